#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Doxygen reads in place of a file: the file, with the links of GitHub made links of Doxygen.

    doxygen_filter.py REPOSITORY FILE

In Markdown, a link to a page of ours (semantics.md#scale) becomes a \\ref to the page or to the
heading, which gets that name; a link to a public header, one to the header's reference; any other
link into the sources, one to REPOSITORY. In headers, docs/NAME.md in a comment becomes a \\ref.
A link to nothing becomes a \\ref to nothing, of which Doxygen warns. No line is added or removed.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(`+)(?:(?!\1).)+\1")
HEADING = re.compile(r"(#+) +(.*?) *$")


def page_of(path):
    """The name in Doxygen of a Markdown file, given relative to the root."""
    if path == "README.md":
        return "mainpage"
    folder, name = os.path.split(path)
    return "page_" + (os.path.basename(folder) if name == "README.md" else name[: -len(".md")].lower())


def slug_of(title, seen):
    """GitHub's anchor of a heading; `seen` counts the headings of the page."""
    slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    seen[slug] = seen.get(slug, -1) + 1
    return f"{slug}-{seen[slug]}" if seen[slug] else slug


def nothing(file):
    return f"@ref there_is_no_{re.sub(r'[^A-Za-z0-9]', '_', file)}"


def target_of(link, path, repository):
    """What to write for the target of a link in the file `path`."""
    if re.match(r"[a-z]+:", link):
        return link
    file, _, anchor = link.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    if not (ROOT / file).exists():
        return nothing(file)
    if file.endswith(".md"):
        return f"@ref {page_of(file)}-{anchor}" if anchor else f"@ref {page_of(file)}"
    if re.fullmatch(r"include/[^/]+", file):
        return f"@ref {os.path.basename(file)}"
    return f"{repository}/{'tree' if (ROOT / file).is_dir() else 'blob'}/main/{file}"


def link_of(match, path, repository):
    """What to write for a link or an image; Doxygen finds images by their names."""
    image, text, link = match.groups()
    if not image:
        return f"[{text}]({target_of(link, path, repository)})"
    file = os.path.normpath(os.path.join(os.path.dirname(path), link))
    return f"![{text}]({os.path.basename(file)})" if (ROOT / file).exists() else nothing(file)


def markdown(text, path, repository):
    page, seen, fence, lines = page_of(path), {}, None, []

    def rewrite(line):
        kept = []
        line = CODE.sub(lambda m: kept.append(m[0]) or f"\0{len(kept) - 1}\0", line)
        line = LINK.sub(lambda m: link_of(m, path, repository), line)
        return re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], line)

    for line in text.split("\n"):
        mark = re.match(r" *(```+)", line)
        heading = HEADING.match(line)
        if fence is not None:
            if mark and len(mark[1]) >= len(fence) and not line.strip(" `"):
                fence = None
        elif mark:
            fence = mark[1]
        elif line.startswith("<!-- SPDX"):
            line = ""
        elif heading:
            level, title = heading.groups()
            if level == "#":
                line = f"@mainpage {title}" if page == "mainpage" else f"@page {page} {title}"
            else:  # to Doxygen the first level below the title
                line = f"{level[1:]} {title} {{#{page}-{slug_of(title, seen)}}}"
        else:
            line = rewrite(line)
        lines.append(line)
    return "\n".join(lines)


def header(text):
    def link(match):
        file = match[0]
        return f'@ref {page_of(file)} "{file}"' if (ROOT / file).exists() else nothing(file)

    return re.sub(r"(?m)^ *///.*$", lambda line: re.sub(r"\bdocs/\w+\.md", link, line[0]), text)


def main():
    repository, file = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        text = markdown(text, file.relative_to(ROOT).as_posix(), repository)
    else:
        text = header(text)
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()

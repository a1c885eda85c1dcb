#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes digits.txt, the handwritten digits that scikit-learn ships, and Reference.hpp, the results of its
LogisticRegression for them.

    pip install scikit-learn && python3 make_data.py

A line of digits.txt is an image: its digit, a space, and 64 pixels row after row. Each pixel is one
character of PIXELS, for the values 0 to 16. The first 1347 images are for training, the last 450 for the test.
"""
import numpy
import sklearn
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

PIXELS = "0123456789abcdefg"
TRAINING = 1347
PENALTY = 1.0

HEADER = """\
# SPDX-License-Identifier: CC-BY-4.0
# E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, the part for testing. UCI Machine
# Learning Repository, https://doi.org/10.24432/C50P49, under CC BY 4.0, https://creativecommons.org/licenses/by/4.0/,
# which gives no warranties. Changed: the format, from that of scikit-learn {version}, by make_data.py.
"""


def write_data(images, digits):
    with open("digits.txt", "w", encoding="ascii") as file:
        file.write(HEADER.format(version=sklearn.__version__))
        for image, digit in zip(images.astype(int), digits):
            file.write(f"{digit} {''.join(PIXELS[pixel] for pixel in image)}\n")


def write_reference(images, digits):
    """Pixels divided by 16. The objective of LogisticRegression, divided by the number of images:
    mean of -log p(digit) + |weights|^2 / (2 C images), with C = 1 / PENALTY and a free intercept."""
    model = LogisticRegression(C=1 / PENALTY, tol=1e-10, max_iter=10000)
    model.fit(images[:TRAINING], digits[:TRAINING])
    loss = log_loss(digits[:TRAINING], model.predict_proba(images[:TRAINING]))
    loss += PENALTY * numpy.sum(model.coef_**2) / (2 * TRAINING)
    accuracy = model.score(images[TRAINING:], digits[TRAINING:])
    with open("Reference.hpp", "w", encoding="ascii") as file:
        file.write(f"""\
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef DIGITS_REFERENCE_HPP
#define DIGITS_REFERENCE_HPP

// Written by make_data.py: LogisticRegression of scikit-learn {sklearn.__version__}.
namespace digits {{

constexpr int training_images = {TRAINING};
constexpr double penalty = {PENALTY};
constexpr double reference_objective = {float(loss)!r};
constexpr double reference_accuracy = {float(accuracy)!r};

}}  // namespace digits

#endif
""")


data = load_digits()
write_data(data.data, data.target)
write_reference(data.data / 16, data.target)

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Words.hpp>
#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace KokkosSoftmaxSweep {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');)
    if (!item.empty()) items.push_back(item);
  return items;
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::vector<std::string> names(const std::string& flag, const std::string& list,
                               const std::vector<std::string>& known) {
  std::vector<std::string> items = split(list);
  for (const std::string& item : items)
    if (std::find(known.begin(), known.end(), item) == known.end())
      throw std::invalid_argument(flag + ": there is no \"" + item + "\"; choose from " +
                                  join(known));
  return items;
}

std::vector<DType> dtypes(const std::string& flag, const std::string& list) {
  std::vector<DType> items;
  for (const std::string& name : names(flag, list, {"float", "double"}))
    items.push_back(name == "float" ? DType::float32 : DType::float64);
  return items;
}

double positive_number(const std::string& flag, const std::string& text) {
  std::istringstream stream(text);
  double number = 0;
  if (!(stream >> number) || !stream.eof() || number <= 0)
    throw std::invalid_argument(flag + ": \"" + text + "\" is not a positive number");
  return number;
}

}  // namespace KokkosSoftmaxSweep

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef DIGITS_REFERENCE_HPP
#define DIGITS_REFERENCE_HPP

// Written by make_data.py: LogisticRegression of scikit-learn 1.9.1.
namespace digits {

constexpr int training_images = 1347;
constexpr double penalty = 1.0;
constexpr double reference_objective = 0.20267449038816449;
constexpr double reference_accuracy = 0.92;

}  // namespace digits

#endif

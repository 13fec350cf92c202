//! Phone numbers as services want to have them.

/// A number that was checked to be E.164 where it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phone<'a> {
    /// Without the plus.
    pub digits: &'a str,
}

/// Calling codes of two digits. Of the others `1` and `7` have one digit, and all the rest three (ITU-T E.164).
const TWO_DIGIT_CODES: [&str; 44] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48",
    "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81",
    "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
];

impl<'a> Phone<'a> {
    pub fn of(address: &'a str) -> Self {
        Self {
            digits: address.trim().trim_start_matches('+'),
        }
    }

    /// The country's calling code, and the number within the country.
    pub fn split(self) -> (&'a str, &'a str) {
        let two = self.digits.get(..2).unwrap_or(self.digits);
        let length = match two {
            two if two.starts_with(['1', '7']) => 1,
            two if TWO_DIGIT_CODES.contains(&two) => 2,
            _ => 3,
        };
        self.digits.split_at(length.min(self.digits.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_split_behind_its_calling_code() {
        for (number, code, national) in [
            ("+919876543210", "91", "9876543210"),
            ("+14155552671", "1", "4155552671"),
            ("+79161234567", "7", "9161234567"),
            ("+491511234567", "49", "1511234567"),
            ("+353861234567", "353", "861234567"),
            ("+971501234567", "971", "501234567"),
            ("+989121234567", "98", "9121234567"),
            ("+996555123456", "996", "555123456"),
            ("+8801712345678", "880", "1712345678"),
        ] {
            assert_eq!(Phone::of(number).split(), (code, national));
        }
    }
}

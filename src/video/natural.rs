//! Owns the order in which a person expects numbered files: 2 before 10.
//! May import: nothing.
//! Must not: touch the disk.

use std::cmp::Ordering;

/// Compares names so that runs of digits count as numbers: `2.png` < `10.png`, `007` and `7` side by side.
///
/// Letters compare without case; names equal by that rule are ordered by their bytes, so the order is total.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let digits = (leading_digits(left), leading_digits(right));
        if digits.0 > 0 && digits.1 > 0 {
            let (x, y) =
                (left[..digits.0].trim_start_matches('0'), right[..digits.1].trim_start_matches('0'));
            // Numbers without leading zeros: the longer is the larger, equally long ones compare as text.
            match x.len().cmp(&y.len()).then_with(|| x.cmp(y)) {
                Ordering::Equal => (left, right) = (&left[digits.0..], &right[digits.1..]),
                unequal => return unequal,
            }
            continue;
        }
        let (mut x, mut y) = (left.chars(), right.chars());
        match (x.next(), y.next()) {
            (Some(c), Some(d)) => match c.to_lowercase().cmp(d.to_lowercase()) {
                Ordering::Equal => (left, right) = (x.as_str(), y.as_str()),
                unequal => return unequal,
            },
            (None, None) => return a.cmp(b),
            (c, _) => return if c.is_none() { Ordering::Less } else { Ordering::Greater },
        }
    }
}

/// Length in bytes of the run of ASCII digits that `text` starts with.
fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(names: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
        names.sort_by(|a, b| natural_order(a, b));
        names
    }

    #[test]
    fn numbers_count_as_numbers() {
        assert_eq!(sorted(&["10.png", "9.png", "1.png"]), ["1.png", "9.png", "10.png"]);
        assert_eq!(sorted(&["a10b2", "a9b10", "a10b1", "A9b9"]), ["A9b9", "a9b10", "a10b1", "a10b2"]);
        assert_eq!(
            sorted(&["0010.png", "9.png", "011.png", "8.png"]),
            ["8.png", "9.png", "0010.png", "011.png"]
        );
        assert_eq!(sorted(&["99999999999999999999999.png", "100000000000000000000000.png"])[0].len(), 27);
        assert_eq!(sorted(&["7.png", "007.png", "07.png"]), ["007.png", "07.png", "7.png"]);
        assert_eq!(sorted(&["кадр10", "кадр9", "é2", "É1"]), ["É1", "é2", "кадр9", "кадр10"]);
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in "[0-2a-bA-Bé.]{0,8}", b in "[0-2a-bA-Bé.]{0,8}", c in "[0-2a-bA-Bé.]{0,8}") {
            prop_assert_eq!(natural_order(&a, &b), natural_order(&b, &a).reverse());
            prop_assert_eq!(natural_order(&a, &b) == Ordering::Equal, a == b);
            if natural_order(&a, &b).is_le() && natural_order(&b, &c).is_le() {
                prop_assert!(natural_order(&a, &c).is_le());
            }
        }
    }
}

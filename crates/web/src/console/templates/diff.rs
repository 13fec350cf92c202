//! What changed between two texts, line by line.

/// A line, and on which side it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// Texts with more lines are shown one after the other: comparing takes the product of both.
const MOST_LINES: usize = 1_500;

/// The fewest lines that have to go and to come.
pub fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > MOST_LINES || new.len() > MOST_LINES {
        let removed = old.into_iter().map(Line::Removed);
        return removed.chain(new.into_iter().map(Line::Added)).collect();
    }
    // How many lines the rests from here on have in common.
    let width = new.len() + 1;
    let mut common = vec![0_u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = match old[i] == new[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut found) = (0, 0, vec![]);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            found.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            found.push(Line::Removed(old[i]));
            i += 1;
        } else {
            found.push(Line::Added(new[j]));
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stayed_is_told_from_what_went_and_what_came() {
        use Line::{Added, Removed, Same};
        assert_eq!(
            lines("a\nb\nc\nd", "a\nc\nx\nd"),
            [Same("a"), Removed("b"), Same("c"), Added("x"), Same("d")]
        );
        assert_eq!(lines("", "a"), [Added("a")]);
        assert_eq!(lines("a", ""), [Removed("a")]);
        assert!(lines("", "").is_empty());
    }

    #[test]
    fn texts_too_long_to_compare_are_shown_one_after_the_other() {
        let long = "x\n".repeat(MOST_LINES + 1);
        let found = lines(&long, "x");
        assert_eq!(found.len(), MOST_LINES + 2);
    }
}

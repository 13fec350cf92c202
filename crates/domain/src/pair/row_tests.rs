use super::*;
use proptest::prelude::*;

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        prop::num::f64::NORMAL.prop_map(Value::Real),
        any::<Vec<u8>>().prop_map(Value::Text),
        any::<Vec<u8>>().prop_map(Value::Blob),
    ]
}

proptest! {
    #[test]
    fn a_row_that_was_sent_has_the_values_it_had(values in prop::collection::vec(any_value(), 0..30)) {
        let row: Row = values.iter().map(Value::borrowed).collect();
        let there = Row::read(row.clone().into_bytes()).unwrap();
        prop_assert_eq!(there.values().map(Value::from).collect::<Vec<_>>(), values.clone());
        prop_assert_eq!((there.columns(), there.weight()), (values.len(), row.weight()));
        for (place, value) in values.iter().enumerate() {
            prop_assert_eq!(there.get(place), Some(value.borrowed()));
        }
        prop_assert_eq!(there.get(values.len()), None);
    }

    #[test]
    fn whatever_bytes_another_machine_sends_are_a_row_to_their_end_or_refused(bytes: Vec<u8>) {
        if let Ok(row) = Row::read(bytes.clone()) {
            prop_assert_eq!(row.values().collect::<Row>().into_bytes(), bytes);
        }
    }

    #[test]
    fn a_row_that_was_cut_off_within_a_value_is_refused(value in any_value(), cut in any::<prop::sample::Index>()) {
        let whole = [RowValue::Integer(1), value.borrowed()].into_iter().collect::<Row>().into_bytes();
        let length = cut.index(whole.len());
        let refused = Row::read(whole[..length].to_vec());
        prop_assert_eq!(refused.is_err(), length != 0 && length != 9);
    }
}

#[test]
fn where_a_row_cannot_be_read_is_said() {
    let refused = Row::read(vec![NULL, NULL, b'?', 0]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a row of 4 bytes cannot be read behind byte 2"
    );
}

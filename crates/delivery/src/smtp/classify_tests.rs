//! The table of `classify.rs`, row by row.

use super::{
    Phase::{AfterDot, Auth, Connect, Data, Ehlo, MailFrom, RcptTo, StartTls},
    *,
};
use crate::smtp::reply::Parsed;
use domain::FailureKind::{self, Ambiguous, Permanent, Transient, Unknown};

fn reply(line: &str) -> Reply {
    match Reply::parse(format!("{line}\r\n").as_bytes()) {
        Parsed::Whole(reply, _) => reply,
        _ => panic!("{line}"),
    }
}

const AUTH: Option<HoldReason> = Some(HoldReason::Auth);
const DOWN: Option<HoldReason> = Some(HoldReason::Down);
const QUOTA: Option<HoldReason> = Some(HoldReason::Quota);

const M5: u64 = 300;
const H1: u64 = 3600;
const H8: u64 = 8 * 3600;

type Row = (
    Phase,
    &'static str,
    FailureKind,
    Scope,
    Option<HoldReason>,
    u64,
    &'static str,
);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    (Connect,  "421 4.3.2 closing",                Transient, Scope::Lane,      None, 0, "SMTP_421_4.3.2"),
    (Connect,  "450 not now",                      Transient, Scope::Lane,      None, 0, "SMTP_450"),
    (Connect,  "554 5.7.1 blocked",                Permanent, Scope::Lane,      DOWN, 0, "SMTP_554_5.7.1"),
    (Connect,  "521 no mail here",                 Permanent, Scope::Lane,      DOWN, 0, "SMTP_521"),
    (Ehlo,     "451 later",                        Transient, Scope::Lane,      None, 0, "SMTP_451"),
    (Ehlo,     "550 go away",                      Permanent, Scope::Lane,      DOWN, 0, "SMTP_550"),
    (StartTls, "454 4.7.0 TLS not available",      Transient, Scope::Lane,      None, 0, "SMTP_454_4.7.0"),
    (StartTls, "502 what",                         Permanent, Scope::Lane,      DOWN, 0, "SMTP_502"),
    (Auth,     "454 4.7.0 try later",              Transient, Scope::Lane,      None, 0, "SMTP_454_4.7.0"),
    (Auth,     "432 4.7.12 password transition",   Transient, Scope::Lane,      None, 0, "SMTP_432_4.7.12"),
    (Auth,     "530 5.7.0 STARTTLS first",         Permanent, Scope::Lane,      AUTH, 0, "SMTP_530_5.7.0"),
    (Auth,     "534 5.7.9 too weak",               Permanent, Scope::Lane,      AUTH, 0, "SMTP_534_5.7.9"),
    (Auth,     "535 5.7.8 bad credentials",        Permanent, Scope::Lane,      AUTH, 0, "SMTP_535_5.7.8"),
    (Auth,     "535 5.7.139 basic auth disabled",  Permanent, Scope::Lane,      AUTH, 0, "SMTP_535_5.7.139"),
    (Auth,     "550 5.7.1 no",                     Permanent, Scope::Lane,      AUTH, 0, "SMTP_550_5.7.1"),
    (MailFrom, "421 4.7.0 slow down",              Transient, Scope::Lane,      None, 0, "SMTP_421_4.7.0"),
    (MailFrom, "432 4.3.2 concurrent connections", Transient, Scope::Lane,      None, 0, "SMTP_432_4.3.2"),
    (MailFrom, "451 4.7.500 server busy",          Transient, Scope::Lane,      None, 0, "SMTP_451_4.7.500"),
    (MailFrom, "450 4.7.1 wait",                   Transient, Scope::Lane,      None, 0, "SMTP_450_4.7.1"),
    (MailFrom, "451 4.3.0 broken",                 Transient, Scope::Lane,      None, 0, "SMTP_451_4.3.0"),
    (MailFrom, "452 4.3.1 disk full",              Transient, Scope::Lane,      None, 0, "SMTP_452_4.3.1"),
    (MailFrom, "501 5.5.4 syntax",                 Permanent, Scope::Message,   None, 0, "SMTP_501_5.5.4"),
    (MailFrom, "555 parameters",                   Permanent, Scope::Message,   None, 0, "SMTP_555"),
    (MailFrom, "530 5.7.0 log in",                 Permanent, Scope::Lane,      AUTH, 0, "SMTP_530_5.7.0"),
    (MailFrom, "550 5.7.60 not your sender",       Permanent, Scope::Lane,      AUTH, 0, "SMTP_550_5.7.60"),
    (MailFrom, "553 5.1.7 bad sender",             Permanent, Scope::Lane,      AUTH, 0, "SMTP_553_5.1.7"),
    (MailFrom, "552 5.3.4 too big",                Permanent, Scope::Message,   None, 0, "SMTP_552_5.3.4"),
    (MailFrom, "550 5.4.5 daily limit exceeded",   Transient, Scope::Lane,      QUOTA, H1, "SMTP_550_5.4.5"),
    (RcptTo,   "421 4.4.5 closing",                Transient, Scope::Lane,      None, 0, "SMTP_421_4.4.5"),
    (RcptTo,   "450 4.2.1 too fast",               Transient, Scope::Recipient, None, M5, "SMTP_450_4.2.1"),
    (RcptTo,   "450 greylisted",                   Transient, Scope::Recipient, None, M5, "SMTP_450"),
    (RcptTo,   "451 4.7.1 greylisted",             Transient, Scope::Recipient, None, M5, "SMTP_451_4.7.1"),
    (RcptTo,   "451 Greylisting in action",        Transient, Scope::Recipient, None, M5, "SMTP_451"),
    (RcptTo,   "451 4.4.2 lookup failed",          Transient, Scope::Recipient, None, 0, "SMTP_451_4.4.2"),
    (RcptTo,   "452 4.2.2 mailbox full",           Transient, Scope::Recipient, None, 0, "SMTP_452_4.2.2"),
    (RcptTo,   "452 4.3.1 disk full",              Transient, Scope::Lane,      None, 0, "SMTP_452_4.3.1"),
    (RcptTo,   "454 4.7.1 relaying deferred",      Transient, Scope::Lane,      None, 0, "SMTP_454_4.7.1"),
    (RcptTo,   "455 4.0.0 parameters",             Transient, Scope::Recipient, None, 0, "SMTP_455_4.0.0"),
    (RcptTo,   "458 queueing failed",              Transient, Scope::Recipient, None, 0, "SMTP_458"),
    (RcptTo,   "459 not allowed",                  Transient, Scope::Recipient, None, 0, "SMTP_459"),
    (RcptTo,   "501 5.1.3 bad address",            Permanent, Scope::Recipient, None, 0, "SMTP_501_5.1.3"),
    (RcptTo,   "503 5.5.1 sequence",               Permanent, Scope::Message,   None, 0, "SMTP_503_5.5.1"),
    (RcptTo,   "530 5.7.0 log in",                 Permanent, Scope::Lane,      AUTH, 0, "SMTP_530_5.7.0"),
    (RcptTo,   "550 5.1.1 no such user",           Permanent, Scope::Recipient, None, 0, "SMTP_550_5.1.1"),
    (RcptTo,   "550 5.2.1 disabled",               Permanent, Scope::Recipient, None, 0, "SMTP_550_5.2.1"),
    (RcptTo,   "550 5.7.1 policy",                 Permanent, Scope::Recipient, None, 0, "SMTP_550_5.7.1"),
    (RcptTo,   "551 5.1.6 moved",                  Permanent, Scope::Recipient, None, 0, "SMTP_551_5.1.6"),
    (RcptTo,   "552 5.2.2 over quota",             Transient, Scope::Recipient, None, H8, "SMTP_552_5.2.2"),
    (RcptTo,   "552 full",                         Transient, Scope::Recipient, None, H8, "SMTP_552"),
    (RcptTo,   "553 5.1.3 syntax",                 Permanent, Scope::Recipient, None, 0, "SMTP_553_5.1.3"),
    (RcptTo,   "554 5.7.1 relay access denied",    Permanent, Scope::Recipient, None, 0, "SMTP_554_5.7.1"),
    (RcptTo,   "556 5.1.10 null MX",               Permanent, Scope::Recipient, None, 0, "SMTP_556_5.1.10"),
    (Data,     "451 4.3.0 later",                  Transient, Scope::Message,   None, 0, "SMTP_451_4.3.0"),
    (Data,     "554 5.5.1 no",                     Permanent, Scope::Message,   None, 0, "SMTP_554_5.5.1"),
    (AfterDot, "421 4.3.0 closing",                Transient, Scope::Lane,      None, 0, "SMTP_421_4.3.0"),
    (AfterDot, "451 4.7.1 greylisted",             Transient, Scope::Message,   None, M5, "SMTP_451_4.7.1"),
    (AfterDot, "452 4.3.1 disk full",              Transient, Scope::Lane,      None, 0, "SMTP_452_4.3.1"),
    (AfterDot, "550 5.1.1 after all no such user", Permanent, Scope::Recipient, None, 0, "SMTP_550_5.1.1"),
    (AfterDot, "550 5.7.1 looks like spam",        Permanent, Scope::Message,   None, 0, "SMTP_550_5.7.1"),
    (AfterDot, "550 5.7.26 unauthenticated",       Permanent, Scope::Lane,      AUTH, 0, "SMTP_550_5.7.26"),
    (AfterDot, "552 5.2.2 over quota",             Transient, Scope::Recipient, None, H8, "SMTP_552_5.2.2"),
    (AfterDot, "552 5.3.4 too big",                Permanent, Scope::Message,   None, 0, "SMTP_552_5.3.4"),
    (AfterDot, "554 5.6.0 bad content",            Permanent, Scope::Message,   None, 0, "SMTP_554_5.6.0"),
    (AfterDot, "554 5.7.1 content",                Permanent, Scope::Message,   None, 0, "SMTP_554_5.7.1"),
    (AfterDot, "554 5.2.0 STOREDRV.Submission.Exception: submission quota exceeded",
                                                   Transient, Scope::Lane,      QUOTA, H1, "SMTP_554_5.2.0"),
    (AfterDot, "554 5.2.2 STOREDRV.Submission.Exception:QuotaExceededException",
                                                   Transient, Scope::Lane,      QUOTA, H1, "SMTP_554_5.2.2"),
    (AfterDot, "354 go on",                        Unknown,   Scope::Message,   None, 0, "SMTP_354"),
    (Connect,  "250 hello",                        Transient, Scope::Lane,      None, 0, "SMTP_250"),
    (Auth,     "334 and one more thing",           Permanent, Scope::Lane,      AUTH, 0, "SMTP_334"),
    (MailFrom, "220 hello",                        Unknown,   Scope::Message,   None, 0, "SMTP_220"),
];

#[test]
fn each_reply_in_each_phase_means_what_the_table_says() {
    for (phase, line, kind, scope, hold, wait, code) in TABLE {
        let failure = refused(*phase, &reply(line));
        let found = (failure.kind, failure.scope, failure.hold);
        assert_eq!(found, (*kind, *scope, *hold), "{phase:?} {line}");
        assert_eq!(failure.provider_code.as_deref(), Some(*code), "{phase:?} {line}");
        let wait = (*wait > 0).then(|| Duration::from_secs(*wait));
        assert_eq!(failure.retry_after, wait, "{phase:?} {line}");
    }
}

#[test]
fn each_reply_has_a_code_that_other_kinds_have_too() {
    for (phase, line, code) in [
        (Auth, "535 5.7.8 no", "AUTH_FAILED"),
        (MailFrom, "530 5.7.0 log in", "AUTH_FAILED"),
        (MailFrom, "550 5.7.60 not your sender", "FORBIDDEN"),
        (AfterDot, "550 5.7.26 unauthenticated", "FORBIDDEN"),
        (MailFrom, "432 4.3.2 concurrent connections", "RATE_LIMITED"),
        (MailFrom, "550 5.4.5 daily limit exceeded", "QUOTA"),
        (Connect, "554 5.7.1 blocked", "PROVIDER_ERROR"),
        (Data, "451 4.3.0 later", "PROVIDER_ERROR"),
        (RcptTo, "450 greylisted", "RECIPIENT"),
        (RcptTo, "550 5.1.1 no such user", "RECIPIENT"),
        (AfterDot, "554 5.6.0 bad content", "VALIDATION"),
        (AfterDot, "354 go on", "UNKNOWN"),
    ] {
        assert_eq!(refused(phase, &reply(line)).code, code, "{phase:?} {line}");
    }
}

#[test]
fn a_broken_connection_is_transient_until_the_message_is_out_and_ambiguous_then() {
    for phase in [Connect, Ehlo, StartTls, Auth, MailFrom, RcptTo, Data, AfterDot] {
        for (error, code) in [
            (WireError::Timeout, "TIMEOUT"),
            (
                WireError::Closed,
                if phase == Connect {
                    "CONNECT"
                } else {
                    "CONNECTION_LOST"
                },
            ),
            (WireError::Garbled, "SMTP_GARBLED"),
        ] {
            let failure = Failure::from(phase.wire(error));
            let expected = if phase == AfterDot { Ambiguous } else { Transient };
            let told = failure.provider_code.as_ref().unwrap_or(&failure.code);
            assert_eq!((failure.kind, told.as_ref()), (expected, code));
            assert!(failure.is_lane_down(), "{phase:?}");
        }
    }
}

#[test]
fn no_refusal_before_there_is_a_message_blames_one() {
    for phase in [Connect, Ehlo, StartTls, Auth] {
        for code in 100..600 {
            let failure = refused(phase, &reply(&format!("{code} no")));
            assert_eq!(failure.scope, Scope::Lane, "{phase:?} {code}");
            assert!(
                failure.kind == Transient || failure.hold.is_some(),
                "{phase:?} {code}"
            );
        }
    }
}

#[test]
fn too_many_recipients_is_told_apart_from_other_refusals() {
    for line in [
        "452 4.5.3 too many recipients",
        "452 Too many recipients",
        "552 5.5.3 no more",
    ] {
        assert!(is_too_many_recipients(&reply(line)), "{line}");
    }
    for line in [
        "452 4.2.2 mailbox full",
        "550 5.1.1 no such user",
        "503 5.5.3 odd",
    ] {
        assert!(!is_too_many_recipients(&reply(line)), "{line}");
    }
}

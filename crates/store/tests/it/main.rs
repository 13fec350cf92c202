//! What every store promises, as one list of cases that both databases run.
//!
//! A case is an ordinary function over [`harness::TestStore`], named as the sentence that must stay true. The list
//! below is the only place that names cases, so none can be present for one database and missing for the other.
//! `cargo test -p store` needs nothing; `--features postgres-tests` fails without a server.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up fails where it stands"
)]

mod harness;
#[cfg(feature = "postgres-tests")]
mod postgres;
mod prepared;
mod query_plans;
mod sqlite_file;
mod sqlite_kill;
mod suite;

macro_rules! store_suite {
    ($($subject:ident::{ $($case:ident),* $(,)? })*) => {
        mod on_sqlite {
            $(mod $subject {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let t = crate::harness::open_sqlite().await;
                    crate::suite::$subject::$case(&t).await;
                    t.check().await;
                })*
            })*
        }

        #[cfg(feature = "postgres-tests")]
        mod on_postgres {
            $(mod $subject {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let t = crate::postgres::open_test_store().await;
                    crate::suite::$subject::$case(&t).await;
                    t.check().await;
                })*
            })*
        }
    };
}

store_suite! {
    ingest::{
        the_same_id_twice_is_one_row,
        the_same_id_twice_in_one_batch_is_one_row,
        another_tenants_id_is_no_duplicate,
        different_content_keeps_the_first_and_says_so,
        a_duplicate_tells_where_the_first_stands,
        what_was_taken_in_is_read_back_to_the_last_field,
        a_nul_is_refused_alone_among_five_hundred,
        an_over_long_value_is_refused_alone,
        every_text_with_a_nul_is_refused,
        the_six_characters_that_escape_a_nul_are_none,
        a_row_with_send_at_is_due_then,
        a_send_at_in_the_past_is_due_now,
        an_empty_batch_is_no_error,
        many_callers_at_once_each_get_their_own_answers,
    }
    templates::{
        a_template_is_read_back_to_the_last_field,
        a_template_is_one_of_its_event_channel_name_language_and_scope,
        every_save_is_a_version_and_each_can_be_read_for_ever,
        a_save_that_is_based_on_an_old_version_is_a_conflict,
        a_deleted_template_serves_nothing_and_leaves_its_name_free,
        an_event_gets_its_active_templates_and_no_other_tenants,
        a_change_of_templates_is_audited_and_raises_the_directory_version,
        a_tenants_settings_for_templates_are_its_own,
    }
    supersede::{
        a_newer_one_discards_what_waits_under_its_key,
        a_resend_of_the_newer_one_discards_nothing,
        a_row_that_is_being_sent_is_not_superseded,
        a_row_whose_lease_ran_out_is_superseded,
        superseding_stays_within_the_tenant,
        the_last_of_a_batch_under_one_key_wins,
    }
    claim::{
        nothing_waiting_gives_nothing,
        oldest_first_within_a_lane,
        a_lane_gives_no_more_than_asked,
        several_lanes_in_one_claim_each_give_their_share,
        a_claim_carries_everything_an_attempt_needs,
        a_claimed_row_is_not_given_out_twice,
        two_workers_never_claim_the_same_row,
        what_is_not_due_is_not_claimed,
        an_expired_lease_is_claimed_again_and_counted,
        a_released_row_is_due_at_once_and_uncounted,
        releasing_after_an_interruption_does_not_count_it_twice,
        releasing_a_lost_lease_changes_nothing,
        a_renewed_lease_lasts,
        renewing_answers_only_with_what_is_still_held,
        stale_leases_are_due_at_once_and_count_as_interrupted,
        a_claim_tells_the_directory_version_and_the_time,
        lanes_waiting_names_the_earliest_due_time_of_each_lane,
        a_lane_that_does_not_exist_gives_nothing,
    }
    record::{
        delivered_ends_the_row,
        what_was_delivered_keeps_its_most_recent_failure,
        a_retry_waits_its_delay_and_counts,
        an_unknown_answer_is_counted_as_such,
        a_wait_is_uncounted_due_at_once_and_shows_the_reason,
        parked_ends_the_row_with_code_and_words,
        nothing_sent_counts_no_attempt,
        several_records_in_one_call_are_answered_in_order,
        recording_twice_changes_nothing_the_second_time,
    }
    late::{
        a_lost_lease_never_overwrites_a_retry,
        a_lost_lease_never_overwrites_a_parked_row_with_a_retry,
        a_late_success_completes_a_row_that_waits,
        a_late_success_completes_a_row_another_node_is_sending,
        a_late_success_completes_a_parked_row,
        a_late_success_leaves_a_discarded_row_discarded,
        a_late_success_of_a_delivered_row_changes_nothing,
        a_late_result_is_on_record_once,
        a_late_result_of_a_purged_row_is_harmless,
    }
    recipients::{
        recipients_keep_what_each_of_them_said,
        who_accepted_is_never_downgraded,
        a_lost_lease_still_adds_who_accepted,
        a_requeue_opens_only_who_failed,
    }
    lanes::{
        a_held_lane_gives_nothing_and_shows_why,
        a_paused_lane_gives_nothing_until_the_pause_is_over,
        a_pause_is_never_shortened,
        a_hold_needs_the_settings_the_attempt_used,
        a_second_hold_for_the_same_reason_is_the_same_hold,
        a_hold_for_another_reason_does_not_replace_the_first,
        an_operators_hold_replaces_one_the_system_set,
        a_resume_can_insist_on_the_reason,
        resuming_lets_rows_out_again,
        a_lane_that_does_not_exist_cannot_be_held,
        a_lane_has_one_owner_until_its_time_is_up,
        holds_are_audited,
        waiting_rows_are_counted_per_lane,
    }
    probes::{
        a_probe_is_taken_once,
        a_probe_waits_for_its_time,
        a_probe_of_an_empty_lane_takes_nothing,
        a_failed_probe_counts_and_moves_the_next,
        an_operators_hold_is_never_probed,
        a_probe_that_fails_for_another_reason_shows_that_one,
        a_paused_lane_is_not_probed,
        a_successful_probe_and_a_resume_open_the_lane,
    }
    expiry::{
        a_row_in_a_held_lane_is_parked_when_its_time_has_come,
        a_row_that_is_being_sent_does_not_expire_meanwhile,
        a_row_whose_attempt_was_interrupted_expires_and_says_so,
        the_longest_overdue_go_first_and_no_more_than_asked,
        a_row_sent_round_again_past_its_time_expires_again,
    }
    operator::{
        a_parked_row_goes_round_again_as_new,
        only_parked_rows_are_requeued,
        only_parked_rows_are_discarded,
        who_loses_a_race_is_told,
        a_waiting_row_can_be_cancelled,
        a_row_that_ended_cannot_be_cancelled,
        cancelling_what_is_being_sent_stays_cancelled,
        one_answer_per_id_in_order,
        another_tenants_rows_are_not_found,
        a_late_success_of_an_earlier_generation_completes_the_requeued_row,
        whatever_has_ended_is_sent_again_and_says_who_asked,
        a_repeat_that_is_not_taken_leaves_no_trace,
    }
    query::{
        nobody_sees_another_tenants_rows,
        pages_have_neither_gaps_nor_repeats,
        pages_of_what_waits_have_neither_gaps_nor_repeats,
        newest_first,
        each_filter_finds_its_own,
        every_declared_filter_is_asked_of_the_rows,
        filters_together_must_all_hold,
        the_keyword_is_found_in_any_case,
        stuck_rows_are_found,
        a_page_ends_at_the_bound_and_says_where_to_go_on,
        a_row_waiting_in_a_held_lane_says_so,
        a_row_says_what_its_lane_and_its_claim_keep_it_waiting_for,
        what_was_parked_later_is_not_among_what_had_ended_by_then,
        what_waits_is_found_by_time_too,
        a_small_tenants_waiting_rows_are_found_beside_anothers_backlog,
    }
    figures::{
        figures_are_exact,
        a_look_at_the_lanes_tells_of_counts_until_they_are_condensed,
        figures_of_all_tenants_add_up,
        figures_by_site,
        the_delivered_window_slides,
        stuck_counts_from_the_latest_of_created_send_at_and_requeue,
        a_late_success_moves_the_figures,
    }
    audit::{
        an_attempt_that_ends_its_row_is_read_as_two,
        an_attempt_that_does_not_is_one,
        an_end_without_an_attempt_is_one_row,
        an_interruption_is_on_record,
        every_accepted_send_is_a_row,
        pages_of_the_log_have_neither_gaps_nor_repeats,
        each_filter_finds_its_own,
        the_rows_of_one_notification_are_found_by_its_id,
        an_unknown_notification_has_no_rows,
        nobody_sees_another_tenants_log,
    }
    directory::{
        there_is_a_tenant_from_the_start,
        a_tenants_name_is_taken_once,
        a_tenant_is_deleted_when_nothing_hangs_on_it,
        nothing_is_set_up_or_taken_in_for_a_deleted_tenant,
        a_live_keys_name_is_taken_once,
        a_revoked_key_opens_nothing,
        a_key_is_revoked_only_by_its_tenant,
        a_list_is_replaced_whole,
        of_two_changes_of_one_list_the_slower_is_told,
        the_lane_of_a_channel_nobody_serves_is_made_once,
        every_change_is_seen_by_the_next_claim,
    }
    providers::{
        a_provider_is_read_back_to_the_last_field,
        creating_a_provider_twice_is_a_conflict,
        replacing_a_provider_needs_its_version,
        new_settings_end_a_hold_they_may_cure,
        an_operators_hold_outlives_new_settings,
        a_disabled_provider_is_held,
        only_switching_a_provider_on_ends_the_hold_of_one_that_is_off,
        a_provider_with_waiting_rows_cannot_be_deleted,
        a_provider_with_waiting_rows_cannot_change_its_channel,
        a_provider_made_again_takes_its_lane_back_with_a_newer_version,
        resealing_keeps_the_version_and_insists_on_it,
        a_test_of_a_provider_is_on_record,
        providers_come_in_their_order,
    }
    jobs::{
        a_job_is_kept_as_asked,
        a_job_is_worked_on_by_one_node,
        a_dead_nodes_job_is_taken_over,
        a_look_at_the_lanes_tells_of_a_job_that_nobody_works_on,
        progress_is_written_down_and_a_finished_job_is_not_taken_again,
        a_job_is_its_tenants,
    }
    purge::{
        what_waits_is_never_purged,
        a_purge_goes_in_chunks_oldest_first,
        a_purged_id_is_still_a_duplicate,
        spent_keys_go_after_their_own_time,
        everything_that_hangs_on_a_notification_goes_with_it,
        audit_rows_and_stats_go_after_their_own_time,
        bulk_actions_that_ended_go_after_their_time_and_no_others,
        what_would_go_is_counted_up_to_the_bound,
        a_purged_notification_is_gone_from_every_page,
    }
    users::{
        a_user_is_read_back_to_the_last_field,
        a_users_name_is_taken_once_in_any_case,
        a_role_is_per_tenant,
        who_runs_the_installation_looks_into_every_tenant,
        a_session_is_found_until_it_ends,
        a_session_expires_unless_it_is_renewed,
        a_session_looks_at_the_tenant_it_chose,
        a_new_password_ends_every_session,
        who_is_kept_out_has_no_session,
        a_link_works_once_and_not_for_ever,
        a_link_is_on_record_with_who_made_it,
        links_end_with_a_new_password_with_the_last_role_and_when_somebody_is_kept_out,
        a_refused_sign_in_is_on_record,
    }
    stats::{
        a_chart_counts_the_same_before_and_after_condensing,
        a_chart_moves_on_and_lets_the_old_go,
        a_long_pause_is_caught_up,
        the_figures_are_sampled_once_a_minute,
        charts_stay_within_the_tenant,
        failures_are_grouped_by_what_went_wrong,
    }
    sites::{
        another_agent_with_the_same_id_is_written_down_and_audited_once,
        a_notification_parked_at_a_site_is_a_row_and_a_line_with_who_did_it,
        a_registered_site_has_a_key_of_its_own,
        a_site_is_registered_again_only_after_its_key_was_revoked,
        a_site_is_its_tenants,
        a_connected_site_shows_where_and_since_when,
        an_older_session_neither_comes_back_nor_takes_the_newer_one_down,
        news_of_a_call_ends_up_in_its_row_and_in_the_log,
        news_told_twice_is_written_once,
        news_in_the_wrong_order_leaves_the_latest,
        the_same_telemetry_id_of_two_sites_is_two_pieces_of_news,
        news_that_is_malformed_is_tidied_and_kept,
        two_deliveries_of_the_same_news_at_once_do_no_harm,
        pages_of_calls_have_neither_gaps_nor_repeats,
        each_call_filter_finds_its_own,
        calls_that_ended_go_after_their_time_and_no_others,
        an_action_on_a_parked_message_is_on_record_with_who_did_it,
        a_question_by_way_of_another_node_is_given_out_once_and_so_is_its_answer,
        a_question_nobody_waits_for_any_more_is_forgotten,
        the_database_keeps_its_identity,
        a_site_names_nobody_but_its_own_people,
    }
    concurrency::{
        ingesting_claiming_and_recording_at_once_loses_nothing,
        operators_and_workers_race_without_harm,
    }
    model::{
        any_history_matches_the_model,
    }
    schema::{
        the_version_is_known,
        a_closed_store_refuses,
    }
}

-- Newest first. All but a notification's acceptance, which `accepted_event` finds.
select * from site_events where message_id = ?1 and (what <> 'Queued' or category <> 1) order by seq desc limit ?2

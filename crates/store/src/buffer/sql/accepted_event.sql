-- A notification's acceptance has the very time of the notification.
select * from site_events where at = ?2 and message_id = ?1 and what = 'Queued' and category = 1

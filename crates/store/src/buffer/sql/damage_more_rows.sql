-- Rows of this file that cannot be read are one entry until somebody has acknowledged it, however many they are.
update damage set lost = lost + ?1, at = ?2 where acknowledged_at is null and file is null

//! Taking room on a disk before it is needed.

use std::{fs::File, io, os::unix::fs::FileExt, sync::LazyLock};

/// Written at once.
const PIECE: usize = 64 << 10;

/// Bytes that no file system stores in fewer.
static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut noise: u32 = 0x9e37_79b9;
    (0..PIECE)
        .map(|_| {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            noise.to_le_bytes()[0]
        })
        .collect()
});

/// Makes the file reach from `from`, its end, to `to`, on disk and not only by name. What it cannot take it gives back.
pub(crate) fn extend(file: &File, from: u64, to: u64) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let n = (to - at).min(PIECE as u64);
        if let Err(full) = file.write_all_at(&NOISE[..n as usize], at) {
            file.set_len(from)?;
            return Err(full);
        }
        at += n;
    }
    Ok(())
}

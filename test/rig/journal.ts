/** Begins a journal of SQLite, and ends one that names a super-journal (https://sqlite.org/fileformat.html#the_rollback_journal). */
const mark = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * A journal that is to be rolled back and belongs to a transaction over several databases, which another file is said to
 * describe: SQLite deletes that file, whatever it is.
 */
export function journalNaming(file: string, pageSize = 4096): Buffer {
  const sector = 512;
  const header = Buffer.alloc(sector);
  mark.copy(header);
  // No pages to put back; the size of the database before, in pages; sector and page size.
  header.writeUInt32BE(2, 16);
  header.writeUInt32BE(sector, 20);
  header.writeUInt32BE(pageSize, 24);
  const name = Buffer.from(file);
  const end = Buffer.alloc(16);
  end.writeUInt32BE(name.length, 0);
  const sum = name.reduce((total, byte) => total + byte, 0);
  end.writeUInt32BE(sum, 4);
  mark.copy(end, 8);
  const lockPage = Buffer.alloc(4);
  lockPage.writeUInt32BE(0x4000_0000 / pageSize + 1);
  return Buffer.concat([header, lockPage, name, end]);
}

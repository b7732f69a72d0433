/** Opens a database, then warns. */
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';

openDatabase(':memory:').close();
process.emitWarning('a warning of the program');

// Keeps the folder that it is given, says so, and waits to be killed.
import { keep } from '../postgres/keeper.ts';

keep(process.argv[2] ?? '');
console.log('kept');
setInterval(() => undefined, 1000);

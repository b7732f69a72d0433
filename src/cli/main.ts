#!/usr/bin/env node
import { flushed, processIo } from './adapters/process-io.ts';
import { exitCodes } from './errors/cli-error.ts';
import { shownErrorOf } from './errors/render.ts';
import { program } from './program.ts';
import { plainIo } from './terminal/plain-io.ts';
import { Redactor } from './terminal/redact.ts';

const redactor = new Redactor();
const io = processIo();

/** Nothing may continue after these: durable work is in the state, and the next run continues from there. */
const bug = (error: unknown): void => {
  plainIo(io).err(redactor.apply(shownErrorOf(error).text ?? ''));
  process.exit(exitCodes.internal);
};
process.on('uncaughtException', bug);
process.on('unhandledRejection', bug);

const exitCode = await program(process.argv.slice(2), io, redactor);
await flushed();
// A connection or a timer that somebody forgot must not keep a finished command alive.
process.exit(exitCode);

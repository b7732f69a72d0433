#!/usr/bin/env node
import { exitCodes } from './failure.ts';
import { faultOf } from './fault.ts';
import { plainIo } from './plain-io.ts';
import { flushed, processIo } from './process-io.ts';
import { program } from './program.ts';
import { Redactor } from './redact.ts';

const redactor = new Redactor();
const io = processIo();

/** Nothing may go on after these: what is durable is in the state, and the next run goes on with it. */
const bug = (error: unknown): void => {
  plainIo(io).err(redactor.apply(faultOf(error).text ?? ''));
  process.exit(exitCodes.internal);
};
process.on('uncaughtException', bug);
process.on('unhandledRejection', bug);

const exitCode = await program(process.argv.slice(2), io, redactor);
await flushed();
// A connection or a timer that somebody forgot must not keep a finished command alive.
process.exit(exitCode);

#!/usr/bin/env node
import { flushed, processIo } from './adapters/process-io.ts';
import { exitCodes } from './errors/cli-error.ts';
import { faultOf } from './errors/render.ts';
import { program } from './program.ts';
import { plainIo } from './terminal/plain-io.ts';
import { Redactor } from './terminal/redact.ts';

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

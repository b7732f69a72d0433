#!/usr/bin/env node
import { exitCodes } from '../app/errors/cli-error.ts';
import { failureText, isOfConnection, shownErrorOf } from '../app/errors/render.ts';
import { Redactor } from '../app/output/redact.ts';
import { safeIo } from '../app/output/safe-io.ts';
import { flushed, outputFailure, processIo } from './adapters/process-io.ts';
import { systemRefusal } from './adapters/system.ts';
import { program } from './program.ts';

const redactor = new Redactor();
const rawIo = processIo();
const io = safeIo(rawIo, redactor);

/** Exits at once after a bug: durable work is in the state, and the next run continues from there. */
const bug = (error: unknown): void => {
  io.err(shownErrorOf(error).text ?? '');
  process.exit(exitCodes.internal);
};
let passedOver = 0;
process.on('uncaughtException', (error) => {
  if (!isOfConnection(error, passedOver)) return bug(error);
  passedOver += 1;
  const words = `A connection was given up; a request on it runs out of its time, and is then met like any that broke: ${error.message}`;
  io.err(failureText(words));
});
process.on('unhandledRejection', bug);

const exitCode = await started();
await flushed();
const failure = outputFailure();
if (failure !== undefined) {
  const text = failureText(
    `Standard output cannot be written: ${failure.message}.`,
    'What is printed there is not whole.',
  );
  io.err(text);
  await flushed();
}
// A forgotten connection or timer must not keep a finished command alive.
process.exit(failure !== undefined && exitCode === exitCodes.ok ? exitCodes.disk : exitCode);

async function started(): Promise<number> {
  const refusal = systemRefusal(process.platform);
  if (refusal === undefined) return await program(process.argv.slice(2), rawIo, redactor);
  const { exitCode, text = '' } = shownErrorOf(refusal);
  io.err(text);
  return exitCode;
}

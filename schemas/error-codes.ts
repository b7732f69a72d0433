/** The text of `errors.md`, from the tables of codes. */
import { diagnosticCodes } from '../src/pipeline/diagnostics/codes.ts';
import { type JobErrorMeaning, jobErrors, type Retried } from '../src/pipeline/diagnostics/job-errors.ts';
import { endCodes, noticeCodes, refusalCodes } from '../src/pipeline/diagnostics/run-codes.ts';

/** What each word of the column Retried means, and what to do where a code says nothing else. */
const retried: Readonly<Record<Retried, readonly [means: string, todo: string]>> = {
  no: ['The same request fails again.', 'Change what the message names.'],
  'row is done': [
    'The row is done. Only frames of it, or further items, are missing.',
    'Nothing has to be done.',
  ],
  'by the run': [
    'The run tries again, up to `retry.attempts` times; a failed task up to `retry.resubmits` times, an answer that is not valid up to `retry.invalid` times. Then the row fails, and `--retry-failed` tries it again.',
    'Where the row has failed: `--retry-failed`.',
  ],
  '--retry-failed': [
    'The row fails at once. A run with `--retry-failed` tries it again.',
    'Mend what the message names, then `--retry-failed`.',
  ],
  'next run': [
    'The run waits, up to `retry.patience`, or ends at once where that cannot help, or asks for no more of this kind. The row stays pending, and the next run tries it.',
    'Mend what the message names, and run again.',
  ],
  'in doubt': [
    'Nobody knows what became of the job, so it is not sent again by itself.',
    '`--in-doubt find` looks for it; `promptpress resolve` settles it; `--in-doubt retry` may pay again.',
  ],
  'with its parent': ['The row has no job of its own.', 'See the row that it depends on.'],
};

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

const code = (word: string): string => `\`${word}\``;

const retriedWord = (word: string): string => (word.startsWith('--') ? code(word) : word);

const byName = <T>(codes: Readonly<Record<string, T>>): readonly (readonly [string, T])[] =>
  Object.entries(codes).sort(([a], [b]) => (a < b ? -1 : 1));

const meanings = (codes: Readonly<Record<string, string>>): string =>
  table(
    ['code', 'means'],
    byName(codes).map(([name, means]) => [code(name), means]),
  );

const jobRow = ([name, { what, todo, retried: again, paid }]: readonly [
  string,
  JobErrorMeaning,
]): readonly string[] => [code(name), what, todo ?? retried[again][1], retriedWord(again), paid];

/** Written by `npm run generate` as `schemas/errors.md`. */
export const errorCodesPage = `<!-- Generated from src/pipeline/diagnostics/ by \`npm run generate\`. Do not edit. -->

# Error codes

Every failure has a code, beside a message that names the place. Codes stay, messages may be worded better. The list is closed: a service's own
words are in the message, and its refusals are mapped to these codes ([how](../src/service/README.md)).

[Jobs](#jobs) · [Pipelines](#pipelines) · [Ends of a run](#ends-of-a-run) · [Refused commands](#refused-commands) · [Warnings](#warnings) ·
[exit codes](../pipelines/unattended.md#exit-codes)

## Jobs

The codes of the column \`error_code\`, of \`status\`, \`show\` and the summary of a run. \`failures.accept\` and \`--code\` take those of failures.

${table(
  ['retried', 'means'],
  Object.entries(retried).map(([word, [means]]) => [retriedWord(word), means]),
)}

A row with the status \`in-doubt\` is handled as *in doubt*, whatever its code: a submission whose answer never came, such as one with
\`connection.timeout\` or \`service.ambiguous\`, is not sent again by itself, and \`--retry-failed\` does not touch it.

Paid says what the service may have charged for the job: nothing, perhaps (it did not say), or yes. Where a \`download.\` code is about an image that
a request shows, nothing was sent and nothing is paid.

${table(['code', 'what happened', 'what to do', 'retried', 'paid'], byName<JobErrorMeaning>(jobErrors).map(jobRow))}

## Pipelines

What \`validate\`, \`plan\` and \`run\` say of a pipeline and its tables, with file, line and column. Nothing is sent before all errors are gone.

${meanings(diagnosticCodes)}

## Ends of a run

Why a run ended before its plan was done, or asked for no more requests of one kind: \`end.code\` of \`run.json\` and \`--json\`. A run also ends with
codes of [jobs](#jobs) that the next run tries again, and with those of [a refused command](#refused-commands).

${meanings(endCodes)}

## Refused commands

\`error.code\` of \`--json\`, and \`code\` of a \`PromptpressError\`: these, or that of a table or a bucket, or else the name of the exit code (\`usage\`, \`stopped\`,
\`internal\`, …). A pipeline with errors is \`pipeline.invalid\`.

${table(
  ['code', 'what is wrong', 'exit'],
  byName(refusalCodes).map(([name, { what, exit }]) => [code(name), what, String(exit)]),
)}

## Warnings

\`warnings\` of \`plan\`, and notices of a run. Nothing has failed; codes of the tables above are also used.

${meanings(noticeCodes)}
`;

import { nearest } from './did-you-mean.ts';

/** Whether a job that ended with an error is tried again: the words of `schemas/errors.md`. */
export type Retried =
  /** The same request fails again. */
  | 'no'
  /** The row is done, and only a part of it is missing. */
  | 'row is done'
  /** By the run, up to `retry.attempts`, `retry.resubmits` or `retry.invalid` times; after that by `--retry-failed`. */
  | 'by the run'
  | '--retry-failed'
  /** The run waits up to `retry.patience`, and ends, or the kind of request closes. The row stays pending. */
  | 'next run'
  /** Only when the user says what became of it: `resolve`, `--in-doubt`. */
  | 'in doubt'
  /** The row has no job. It follows the row that it depends on. */
  | 'with its parent';

/** What the user may have paid for a job with an error. */
export type Paid = 'nothing' | 'perhaps' | 'yes';

/** What an error code of a job means, for a user. */
export interface JobErrorMeaning {
  /** What happened, as a sentence. */
  readonly what: string;
  /** What to do beyond what the message of such an error says, as a sentence. Absent: nothing. */
  readonly todo?: string;
  readonly retried: Retried;
  readonly paid: Paid;
}

const codes = <C extends string>(
  retried: Retried,
  paid: Paid,
  words: Readonly<Record<C, readonly [what: string, todo?: string]>>,
): Readonly<Record<C, JobErrorMeaning>> =>
  Object.fromEntries(
    Object.entries<readonly [what: string, todo?: string]>(words).map(([code, [what, todo]]) => [
      code,
      { what, ...(todo === undefined ? {} : { todo }), retried, paid },
    ]),
  ) as Record<C, JobErrorMeaning>;

/**
 * Every error code that a job or a row can have (column `error_code`). The list is closed: a service's own words are in the message, and
 * `service/failures/` maps them to these codes.
 */
export const jobErrors = {
  ...codes('no', 'nothing', {
    'blend.count': ['The step has too few or too many images to blend in this cell.'],
    'button.ambiguous': [
      'Several buttons match.',
      'Name one of the buttons exactly, or fan out with a wildcard (Zoom Out *); a pattern may match only one.',
    ],
    'button.missing': [
      'The parent does not offer the button.',
      'Name a button that its parent offers, or offer alternatives (A | B). After an edit only changed jobs run.',
    ],
    'each.no-list': [
      'The value of each is no list in this cell.',
      'Give the answer a responseSchema with a list, or split a text: {{ steps.ideas.text | lines }}.',
    ],
    'button.no-task': [
      'The button makes no task, or several.',
      'Press another button that its parent offers: this one will never be a single task.',
    ],
    'button.not-offered': [
      'The gateway shows no buttons, so it presses them without prompt and remix.',
      'Remove prompt and remix: such a gateway presses a button without changes.',
    ],
    'image.count': ['The step has too few or too many images in this cell.'],
    'input.changed': [
      'A file that the request shows was changed after it was planned or saved.',
      'Run again: that plans with the file as it is now.',
    ],
    'mask.address': ['The mask is an address instead of a file.'],
    'mask.empty': ['The mask leaves nothing to repaint.'],
    'mask.size': [
      'The mask is not of the size of its image.',
      'Give a mask of exactly the size of the image, or draw it with shapes, which take any size. After an edit only changed jobs run.',
    ],
    'mask.too-large': ['The mask, or the image that it is for, is too large.'],
    'mask.type': ['The mask is not a complete PNG file.'],
    'mask.unused': [
      'The button takes no mask.',
      'Nothing was pressed, and nothing is paid: remove the mask, or, if a wildcard presses other buttons too, give it only to Vary (Region).',
    ],
    'best.no-number': [
      'The number by which a step picks is none.',
      'Ask for a number alone (a responseSchema with a number), or leave it out with failed: ignore.',
    ],
    'output.missing': ['The job has no output with this number.'],
    'output.not-cut': [
      'The grid was not cut, so it has no frames.',
      'promptpress show tells of the grid why it stayed whole.',
    ],
    'output.number': ['The number of an output is no whole number from 1.'],
    'parent.lost': [
      'The service no longer has the finished task of the parent.',
      'Its parent is gone from the service: redo the parent with --redo, and this job with it.',
    ],
    'prompt.empty': ['The prompt has nothing but parameters in this cell.'],
    'schema.answer': ['The schema of the answer is not valid in this cell.'],
    'template.empty': ['A field is empty in this cell.'],
    'template.filter': ['A filter of a template failed in this cell.'],
    'template.limit': ['A template gives too much text, or does too much work.'],
    'template.no-json': ['A template reads the JSON of an answer that has none.'],
    'template.object': ['A template would write a mapping or a list as text in this cell.'],
    'template.range': ['A field has a value in this cell that it cannot have.'],
    'template.several': ['A template reads the result of one job, and there are several.'],
    'template.undefined': ['A template reads something that does not exist in this cell.'],
    'thinking.generation': ['The model does not accept thinking in this form.'],
    'thinking.range': ['The model does not accept this level or this budget.'],
  }),
  ...codes('no', 'perhaps', {
    'job.dropped': [
      'You gave up a job in doubt.',
      'You gave it up with promptpress resolve --drop; --retry-failed submits it again, which may pay twice.',
    ],
    'modal.unanswered': [
      'The button opened a dialog, and the path gives no answer.',
      'Put the answer into its path (`prompt`, for a region `mask` too), or press a button that opens no dialog.',
    ],
    'task.moderated': [
      'The service refused the prompt or the image for its content.',
      'The same prompt will be refused again: change it in the pipeline.',
    ],
    'task.rejected': [
      'The service refused the task for its form, or because the account may not.',
      'The same request will be refused again: change it in the pipeline.',
    ],
    'text.blocked': [
      'The service blocked the prompt.',
      'The prompt itself was refused: change it, or the safetySettings, in the pipeline.',
    ],
  }),
  ...codes('row is done', 'yes', {
    'frames.file': [
      'The file of a grid is gone or was changed before it was cut.',
      'Redo the grid (--redo).',
    ],
    'each.dropped': [
      'The list of each has more items than max: the others are not used.',
      'Give the step a larger max.',
    ],
    'frames.no-grid': [
      'An image that was to be cut is no grid of four.',
      'Remove grid: split from the step.',
    ],
    'frames.odd-size': ['A grid cannot be halved in both directions.', 'Remove grid: split from the step.'],
    'frames.too-large': ['A grid is too large to be cut.', 'Remove grid: split from the step.'],
    'frames.unreadable': ['The file of a grid cannot be decoded, or moves.', 'Redo the grid (--redo).'],
  }),
  ...codes('no', 'yes', {
    'modal.not-opened': [
      'The button opened no dialog, so the image was made without the prompt or the mask of the path.',
      'Its image was made without the answer of the path, and another try is paid again: set remix: true, press a button that opens a dialog, or remove the answer.',
    ],
    'text.filtered': [
      'The answer was withheld, or ended for another reason than its end.',
      'The answer was held back by a filter: change the prompt or the safetySettings.',
    ],
    'text.max-tokens': [
      'The answer was cut off at its maximum of tokens.',
      'Raise generationConfig.maxOutputTokens (chat: max_tokens), or accept cut answers with accept: [MAX_TOKENS].',
    ],
  }),

  ...codes('--retry-failed', 'nothing', {
    'input.linked': ['A file of the run directory is a link, which is not sent.'],
    'input.missing': [
      'An image that the request shows is missing.',
      'Put the image where the pipeline says it is; the next run with --retry-failed sends it.',
    ],
    'input.not-image': ['A file that the request shows is no image.'],
    'input.outside': ['A file that the request shows lies outside the folder that pipelines may read.'],
    'input.too-large': ['An image that the request shows is too large.'],
    'request.too-large': ['The request is larger than the service takes.'],
    'service.bad-id': ['A name or an id fits into no address of the service.'],
    'service.forbidden': ['The service does not allow this request to the key (403).'],
    'service.not-found': ['The service does not know the model or the address (404).'],
    'service.not-offered': [
      'The gateway, or its account, does not offer this kind of request.',
      'Run the step on a gateway that offers it, or run the others with --only; --retry-failed asks for it again.',
    ],
    'service.rejected': ['The service refused the request.'],
    'service.too-large': ['The service finds the request too large (413).'],
    'submit.refused': [
      'The service did not accept the submission, or its queue stayed full.',
      'The service did not accept the request: its message shows whether another try can help.',
    ],
  }),
  ...codes('--retry-failed', 'perhaps', {
    'service.task-unknown': [
      'The service does not know the task any more.',
      'The service no longer knows its task: it can only be submitted again.',
    ],
    'task.cancelled': [
      'The task was cancelled at the service.',
      'Find out who cancelled it; --retry-failed submits it again, which is paid again.',
    ],
  }),
  ...codes('--retry-failed', 'yes', {
    'download.address': ['The link to a file leads where links may not lead.'],
    'download.too-large': ['A file is too large.'],
    'function.rounds': [
      'The model called functions again after the last round.',
      'Raise rounds in the step.',
    ],
    'function.unanswered': [
      'The model called a function without an answer in the step.',
      'Give the function an answer in the step, or remove it from its tools.',
    ],
    'function.undeclared': [
      'The model called a function that the step does not declare.',
      'Declare the function (functions, or tools), or ask for an answer in words; what the model called is in the full answer.',
    ],
    'text.refused': ['The model refused to answer.', 'Change the prompt, or ask another model.'],
    'task.timeout': [
      'The task was not finished within timeouts.task.',
      'Every later run polls its task once more before anything else.',
    ],
  }),

  ...codes('by the run', 'nothing', {
    'service.no-channel': [
      'No channel of the gateway could do it.',
      'The service had no channel for it: nothing was made, and another try costs nothing.',
    ],
    'service.no-listing': ['The gateway does not list its tasks, so they are read one by one.'],
    'service.not-ready': ['The gateway had not yet noted that the parent was finished.'],
    'service.throttled': ['The service had too many requests (429), while it served others.'],
  }),
  ...codes('by the run', 'perhaps', {
    'connection.lost': ['The connection broke before the answer was there.'],
    'connection.timeout': ['No answer came in time.'],
    'response.coding': ['The answer cannot be decoded.'],
    'response.too-large': ['The answer is larger than promptpress reads.'],
    'service.ambiguous': ['The answer does not say whether a task was made.'],
    'service.malformed': ['The answer is not what the service is known to answer.'],
    'service.not-json': [
      'The service answered with a page or a text.',
      'Check the base address (service.baseUrl).',
    ],
    'service.redirect': [
      'The service answered with a redirect.',
      'Check the base address (service.baseUrl).',
    ],
    'service.unavailable': ['The service failed, or was not available (5xx).'],
    'service.other-task': ['The service showed another task for the id of this one.'],
    'stream.truncated': ['The answer broke off.'],
    'task.unmatched': ['The gateway did not find the result of its task, which is submitted once more.'],
    'task.failed': [
      'The service failed the task.',
      'The run submits it again only where the reason is known to pass, or retry.transient names it. See the reason in the message; --retry-failed submits it again.',
    ],
  }),
  ...codes('by the run', 'yes', {
    'download.connection': ['The host of a file could not be reached.'],
    'download.no-link': ['The service gives no link to the file of a finished task.'],
    'download.no-prompts': [
      'The service gives no prompts for a finished task.',
      'Another try polls its task once more and costs nothing; with --redo it is described, and paid, again.',
    ],
    'download.not-image': ['What came is no image.'],
    'download.not-video': ['What came is no video.'],
    'download.refused': ['The link to a file was refused, or has expired.'],
    'download.status': ['The host of a file answered with an error.'],
    'download.truncated': ['A file broke off.'],
    'text.bad-call': ['The model made a function call that is not valid.'],
    'text.empty': [
      'The model gave no answer.',
      'If thinking took all the tokens, raise maxOutputTokens or lower thinking.',
    ],
    'text.not-json': [
      'The answer is not the JSON that was asked for.',
      'Another model, or a simpler schema, may do better; retry.invalid says how often it is asked again.',
    ],
    'text.schema': [
      'The JSON of the answer does not match its schema.',
      'Another model, or a simpler schema, may do better; retry.invalid says how often it is asked again.',
    ],
  }),

  ...codes('next run', 'nothing', {
    'connection.certificate': ['The certificate of the service is not trusted.'],
    'connection.dns': ['The host name could not be looked up.'],
    'connection.proxy': ['The proxy refused the connection, or could not be reached.'],
    'connection.refused': ['No connection was made.'],
    'connection.tls': ['No secure connection was made.'],
    'connection.protocol': ['The port of the service speaks another protocol.'],
    'service.quota': [
      'No money is left at the service.',
      'Top up the account, or raise the limit of the key.',
    ],
    'service.unauthorized': ['The service refuses the key.', 'Check the variable that holds the key.'],
  }),
  ...codes('next run', 'perhaps', {
    'connection.aborted': ['The run ended before the answer was there.', 'Run again.'],
  }),
  ...codes('next run', 'yes', {
    'disk.full': ['The disk is full, or its quota is used up.', 'Make room.'],
    'disk.io': ['The disk failed.'],
    'disk.link': ['A link has the name of a file or a folder of the run directory.', 'Remove the link.'],
    'disk.readonly': ['The run directory may not be written.'],
    'download.aborted': ['The run ended before a file was there.', 'Run again.'],
    's3.clock': ['The clock of this machine differs from that of the bucket.', 'Set the clock.'],
    's3.credentials': ['The bucket refuses the credentials.'],
    's3.denied': ['The credentials may not do this in the bucket.'],
    's3.failed': ['The bucket failed.'],
    's3.full': ['The bucket takes no more.', 'Make room.'],
    's3.no-bucket': ['There is no such bucket.'],
    's3.region': ['The bucket is in another region.'],
    's3.unreachable': ['The bucket could not be reached for minutes.'],
  }),

  ...codes('in doubt', 'perhaps', {
    'reuse.broken': [
      'Another run directory has the job (--reuse), and its file or reply there is not as the state there says.',
      'Repair it there (promptpress verify DIR --repair), and give --reuse again.',
    ],
    'reuse.open': [
      'Another run directory has begun the job (--reuse) and not settled it.',
      'Continue that run, and give --reuse again.',
    ],
    'submit.interrupted': ['The run ended between a submission and its answer.'],
    'submit.interrupted-modal': ['The run ended between the answer to a dialog and its result.'],
    'task.shared': ['The service gave one task to several jobs.'],
    'task.unknown': [
      'The service does not know the task that you named.',
      "Look its prompt up in the service's list of tasks, and name the task again.",
    ],
  }),

  ...codes('with its parent', 'nothing', {
    'ancestor.failed': ['The row is blocked by a failure, which its message names.'],
    'ancestor.skipped': ['The row is skipped with the row that it starts from.'],
    'best.fewer': ['The row is skipped: fewer were there to pick from than the step would pick.'],
    'each.empty': ['The row is skipped: the list of its each is empty.'],
    'when.false': ['The row is skipped: its when does not hold.'],
  }),
} as const satisfies Readonly<Record<string, JobErrorMeaning>>;

/** An error code of a job or a row. */
export type JobErrorCode = keyof typeof jobErrors;

/** Codes that a failed row can have: those that `failures.accept` and `--code` can name. */
export const failureCodes: readonly string[] = Object.entries(jobErrors)
  .filter(([, { retried }]) => !['row is done', 'in doubt', 'with its parent'].includes(retried))
  .map(([code]) => code);

/** Returns what a code means; undefined for one of another release. */
export const meaningOfCode = (code: string): JobErrorMeaning | undefined =>
  Object.hasOwn(jobErrors, code) ? jobErrors[code as JobErrorCode] : undefined;

/** Returns a hint for a code that no failure can have: the code that was probably meant, or what the code means. */
export function codeHint(code: string): string {
  const meaning = meaningOfCode(code);
  if (meaning !== undefined) return `${meaning.what} That is no failure.`;
  const near = nearest(code, failureCodes);
  return near === undefined
    ? 'The error codes of jobs are listed in schemas/errors.md of the promptpress package.'
    : `Did you mean "${near}"?`;
}

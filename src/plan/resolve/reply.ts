import { parse } from 'lossless-json';
import { TemplateError } from '../../pipeline/templates/template.ts';
import { isMapping, type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import type { JobRecord, TaskResult } from '../job.ts';
import type { TextCandidate, TextResult } from '../job-request.ts';

/** Lists and mappings inside each other; what reads a value later calls itself for each level. */
const depthLimit = 100;

/**
 * A reply that is JSON as templates read it: numbers render as the model wrote them, so that an id beyond 2^53
 * survives.
 *
 * @throws TemplateError `template.limit` where it is nested too deeply
 */
export function parseReply(text: string): Value {
  const value = read(text);
  if (isDeeperThan(depthLimit, value)) throw tooDeep();
  return value;
}

function read(text: string): Value {
  try {
    // The lossless parser assigns members, so that a member of this name would become a prototype.
    if (/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text) as Value;
    return parse(text, null, {
      parseNumber: writtenNumber,
      onDuplicateKey: ({ newValue }) => newValue,
    }) as Value;
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(error);
    throw new Error('Internal error: an answer that was found to be JSON is none.', { cause: error });
  }
}

function writtenNumber(source: string): number | WrittenNumber {
  const value = Number(source);
  return String(value) === source ? value : new WrittenNumber(source, value);
}

function isDeeperThan(most: number, value: Value): boolean {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return false;
  return most === 0 || Object.values<Value>(value).some((member) => isDeeperThan(most - 1, member));
}

const tooDeep = (cause?: unknown): TemplateError =>
  new TemplateError('template.limit', `The JSON of the answer is nested more than ${depthLimit} deep.`, {
    cause,
  });

/** Output numbers of the images in one candidate of a reply; the evaluation of replies leaves no other data in them. */
const outputsIn = ({ parts }: TextCandidate): readonly Value[] =>
  parts.flatMap((part) => {
    const inline = isMapping(part) ? part['inlineData'] : undefined;
    return isMapping(inline) ? [inline['output'] ?? null] : [];
  });

/** True where the model drew: in the record stand only the places of its images, whose data is in files or nowhere. */
export const hasImages = (text: TextResult | undefined): boolean =>
  text?.candidates.some((candidate) => outputsIn(candidate).length > 0) ?? false;

/** A text among the outputs of a job, which the record has: no file is made of it. */
export interface TextOutput {
  /** Counts from 1 within the job, its images among them. */
  readonly output: number;
  /** From 1. */
  readonly candidate: number;
  readonly text: string;
  readonly mime: 'text/plain' | 'application/json';
}

/** The texts of a usable reply. Of each candidate its text is numbered first, if it has any, then its images. */
export function textOutputs({ candidates }: TextResult): readonly TextOutput[] {
  const texts: TextOutput[] = [];
  let output = 0;
  for (const [index, candidate] of candidates.entries()) {
    const { text, isJson, read } = candidate;
    if (text.trim() !== '') {
      output += 1;
      const mime =
        (isJson && read === undefined) || isOnlyCalls(candidate) ? 'application/json' : 'text/plain';
      texts.push({ output, candidate: index + 1, text, mime });
    }
    output += outputsIn(candidate).length;
  }
  return texts;
}

/** What an image was described by: its prompts, joined by blank lines; undefined: nothing. */
export const describedText = (result: Pick<TaskResult, 'prompts'> | undefined): string | undefined =>
  result?.prompts === undefined || result.prompts.length === 0 ? undefined : result.prompts.join('\n\n');

/** True for a reply of function calls alone: its text is the calls, as JSON. */
const isOnlyCalls = ({ parts }: TextCandidate): boolean =>
  parts.some((part) => isMapping(part) && isMapping(part['functionCall'])) && !parts.some(isSaid);

const isSaid = (part: Value): boolean =>
  isMapping(part) &&
  part['thought'] !== true &&
  typeof part['text'] === 'string' &&
  part['text'].trim() !== '';

/** True where a reply cannot be said again as a turn (`continue`), since an image of it was not kept. */
export function lacksImages({ text, artifacts }: Pick<JobRecord, 'text' | 'artifacts'>): boolean {
  const [reply] = text?.candidates ?? [];
  return (
    reply !== undefined &&
    outputsIn(reply).some((output) => !artifacts.some((artifact) => artifact.output === output))
  );
}

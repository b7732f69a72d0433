import { members } from '../http/json.ts';
import type { JsonObject } from '../text-service.ts';
import { objectsIn } from './reply/native.ts';

interface Call {
  readonly model: string;
  /** Declared fields by their pipeline names. */
  readonly fields: JsonObject;
}

/** Most paths that one hint names; further ones repeat the same error. */
const most = 3;

/**
 * Returns what the service objects to in a refused request, in the words of the pipeline, with what to write instead where that is
 * known (gateway 6.3, 8.4). Undefined: the service's own words have to do.
 *
 * @param message the service's words, cleaned
 */
export function rejectionHint(body: unknown, message: string, call: Call): string | undefined {
  const thinking = thinkingHint(message, call);
  if (thinking !== undefined) return thinking;
  const paths = [...new Set([...pathsOf(body), ...pathsIn(message)])].slice(0, most);
  if (paths.length === 0) return undefined;
  const names = [...new Set(paths.map((path) => pipelineName(path, call.fields)))];
  const what = /unknown name|cannot find field/i.test(message) ? 'does not know' : 'objects to';
  return `The service ${what} ${names.map((name) => `"${name}"`).join(', ')}.`;
}

function thinkingHint(message: string, { model, fields }: Call): string | undefined {
  const isAbout = /thinking[ _]?(?:level|budget|mode)|thinking is not supported|\bbudget 0\b/i.test(message);
  if (!isAbout) return undefined;
  const asBudget = `thinking: 1024 (tokens; 0 turns it off where the model can, -1 leaves it to the model)`;
  const asLevel = 'thinking: minimal, low, medium or high';
  const about = (takes: string): string => `models: { "${model}": { thinking: ${takes} } }`;
  if (/only one of thinking/i.test(message))
    return 'A level and a budget are both sent: keep one of thinkingLevel and thinkingBudget.';
  if (/thinking[ _]?level[^.]{0,600}not (?:supported|allowed)/i.test(message))
    return `The model "${model}" takes a thinking budget, or no thinking at all: write ${asBudget}, and ${about('budget')}.`;
  if (/thinking[ _]?budget[^.]{0,600}not (?:supported|allowed)/i.test(message))
    return `The model "${model}" takes a thinking level: write ${asLevel}, and ${about('level')}.`;
  if (/\bbudget 0\b|thinking[ _]?mode/i.test(message))
    return `The model "${model}" cannot turn its thinking off: write a budget above 0, or leave "thinking" out.`;
  if (/thinking[ _]?budget/i.test(message))
    return `The model "${model}" does not take this thinking budget: choose one within its bounds, which are 1 to 24576 or 128 to 32768 for known ones, or -1.`;
  return /thinking[ _]?level/i.test(message)
    ? `The model "${model}" does not take this thinking level: write ${typeof fields['thinking'] === 'string' ? 'another of ' : ''}${asLevel}.`
    : `The model "${model}" does not think: leave "thinking" out, and write ${about('none')}.`;
}

/** Finds the paths in the details of an error: `fieldViolations[].field`, or `param` of an OpenAI-like one. */
function pathsOf(body: unknown): readonly string[] {
  const error = members(members(body)?.['error']);
  if (error === undefined) return [];
  const fieldErrors = objectsIn(error['details']).flatMap((detail) => objectsIn(detail['fieldViolations']));
  const fields = [...fieldErrors.map(({ field }) => field), error['param']];
  return fields.filter((field) => typeof field === 'string').filter(isPath);
}

/** Finds the paths in the message itself. */
function pathsIn(message: string): readonly string[] {
  const unknown = [...message.matchAll(/Unknown name "([^"]{1,100})"(?: at '([^']{0,200})')?/g)].map(
    ([, name, at]) => (at === undefined || at === '' ? (name ?? '') : `${at}.${name}`),
  );
  const invalid = [...message.matchAll(/Invalid (?:value|JSON payload)[^'"]{0,40} at '([^']{1,200})'/g)];
  const requests = [...message.matchAll(/\bGenerateContentRequest\.([\w.[\]]{1,200})/g)];
  return [...unknown, ...[...invalid, ...requests].map(([, path]) => path ?? '')].filter(isPath);
}

const isPath = (text: string): boolean => /^[\w$.[\]"-]{1,300}$/.test(text) && /[A-Za-z]/.test(text);

/** Wire paths, and the pipeline fields that produce them; the first field that the pipeline declares counts. */
const shortForms: readonly { readonly wire: RegExp; readonly names: readonly string[] }[] = [
  { wire: /^generationConfig\.thinkingConfig\b/, names: ['thinking'] },
  { wire: /^generationConfig\.response(?:Json)?Schema\b/, names: ['responseSchema'] },
  { wire: /^systemInstruction\b/, names: ['system'] },
  { wire: /^contents\b.*\binlineData\b/, names: ['images'] },
  { wire: /^tools\b.*\bfunctionDeclarations\b/, names: ['functions'] },
  { wire: /^contents\b/, names: ['prompt'] },
  { wire: /^messages\b.*\bimage_?url\b/i, names: ['images'] },
  { wire: /^messages\b/, names: ['prompt'] },
];

/** Returns a path's name in the pipeline: `generation_config.thinking_config.thinking_level` is `thinking` if declared, else native. */
function pipelineName(path: string, fields: JsonObject): string {
  const plain = path.replace(/^(?:request|GenerateContentRequest)\./, '');
  const isChat =
    'messages' in fields || /^(?:messages|response_format|max_tokens|stream_options)\b/.test(plain);
  const native = isChat ? plain : plain.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  const root = /^\w+/.exec(native)?.[0] ?? '';
  if (root in fields) return native;
  const short = shortForms.find(({ wire }) => wire.test(native));
  return short?.names.find((name) => name in fields || name === 'images') ?? native;
}

import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { codeHint, failureCodes } from '../diagnostics/job-errors.ts';
import { variableOnly } from '../diagnostics/mask-secrets.ts';
import type { Thinking } from '../pipeline.ts';
import { patternDiagnostic } from '../selectors/pattern.ts';
import { entriesOf, isText, itemsOf, member, type SourceNode, type TextNode } from '../yaml/node.ts';
import { scalarLocator } from '../yaml/scalar-offsets.ts';
import { reasonMatch } from './fail-reason.ts';
import { defaults } from './read.ts';
import { durationMs } from './units.ts';
import { addressVariable, mayBeSent, otherServiceOf, variableReference } from './variables.ts';

/** Reports errors in the settings that the schema cannot find. */
export function checkSettings(root: SourceNode, collector: DiagnosticCollector): void {
  checkName(member(root, 'name'), collector);
  const service = member(root, 'service');
  checkKey(service, collector);
  checkBaseUrl(service, collector);
  checkVariables(service, collector);
  for (const entry of entriesOf(root)) {
    if (entry.key.startsWith('x-')) checkSharedKeys(entry.value, collector, new Set());
    else if (entry.key !== 'service') warnOfVariables(entry.value, collector, new Set());
  }
  checkOrder(root, 'poll', 'min', 'max', defaults.poll, collector);
  checkOrder(root, 'retry', 'base', 'cap', defaults.retry, collector);
  checkAccepted(member(member(root, 'failures'), 'accept'), collector);
  for (const key of ['permanent', 'transient']) checkReasons(member(member(root, 'retry'), key), collector);
}

/** Reports accepted failures that no job can have: the code is mistyped, or one of jobs in doubt or of blocked rows. */
function checkAccepted(list: SourceNode | undefined, collector: DiagnosticCollector): void {
  for (const node of itemsOf(list)) {
    // The schema reports a text without a dot.
    if (!isText(node) || failureCodes.includes(node.value) || !node.value.includes('.')) continue;
    const message = `No failure can have the error code "${node.value}".`;
    collector.error('failures.code', node.span, message, codeHint(node.value));
  }
}

/** Checks the patterns among the reasons of failed tasks, which have the same limits as those of buttons. */
function checkReasons(list: SourceNode | undefined, collector: DiagnosticCollector): void {
  for (const node of itemsOf(list)) {
    const reason = isText(node) ? reasonMatch(node.value) : undefined;
    if (!isText(node) || reason?.kind !== 'pattern') continue;
    const diagnostic = patternDiagnostic(reason.source);
    // The pattern begins after its slash.
    const locate = scalarLocator(collector.source, node);
    if (diagnostic !== undefined) collector.add({ ...diagnostic, offset: diagnostic.offset + 1 }, locate);
  }
}

const thinkingWords = ['level', 'budget', 'none'] as const satisfies readonly Thinking[];

const isThinking = (word: string): word is Thinking => (thinkingWords as readonly string[]).includes(word);

/** Returns how text models take thinking, from the valid entries of `models`. */
export function declaredModels(root: SourceNode): Readonly<Record<string, Thinking>> {
  return Object.fromEntries(
    entriesOf(member(root, 'models')).flatMap(({ key, value }) => {
      const thinking = member(value, 'thinking');
      return isText(thinking) && isThinking(thinking.value) ? [[key, thinking.value] as const] : [];
    }),
  );
}

/** Matches names that Windows reserves for devices, with any ending. Windows also drops a dot at the end. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;

/** Bytes of the longest name. File systems allow 255; `.sandbox` and more may follow. */
const longestName = 200;

/** Checks the pipeline's name, which names a folder that may be copied to other systems. */
function checkName(node: SourceNode | undefined, collector: DiagnosticCollector): void {
  if (!isText(node)) return;
  const { value, span } = node;
  const hint = 'It names the run directory: choose another name.';
  if (deviceName.test(value) || value.endsWith('.')) {
    collector.error('schema.name', span, `"${value}" cannot be the name of a folder on every system.`, hint);
  } else if (value.length <= longestName && Buffer.byteLength(value) > longestName) {
    collector.error('schema.name', span, `The name has more than ${longestName} bytes.`, hint);
  }
}

/** Reports a key that is written out: a pipeline is checked into git, so it gives only the variable with the key. */
function checkKey(service: SourceNode | undefined, collector: DiagnosticCollector): void {
  for (const { key, value } of entriesOf(service)) {
    if (!/^api[-_ ]?key$/i.test(key) || value.kind !== 'scalar' || value.value === null) continue;
    if (isText(value) && variableOnly.test(value.value)) {
      warnOfOtherKey(value, collector);
      continue;
    }
    collector.secret(value.span);
    if (key !== 'apiKey' || !isText(value)) continue;
    collector.error(
      'service.literal-key',
      value.span,
      'The API key must not be written into the pipeline.',
      'Put it into an environment variable and write ${PROMPTPRESS_API_KEY}. If the file was committed, renew the key.',
    );
  }
}

/** Warns of a variable with another company's key, which would be sent to the gateway of this file. */
function warnOfOtherKey({ value, span }: TextNode, collector: DiagnosticCollector): void {
  const name = value.slice(2, -1);
  const other = otherServiceOf(name);
  if (other === undefined) return;
  collector.warning(
    'service.key-variable',
    span,
    `By its name, ${name} is the key of ${other}, but it would be sent to the gateway of this pipeline.`,
    'Write ${PROMPTPRESS_API_KEY}, or leave apiKey out, and put the key of the gateway into the variable PROMPTPRESS_API_KEY (with export, or in a file for --dotenv). Never write the key itself into the pipeline.',
  );
}

/** Reports keys written out in shared parts, which may be meant for the service block. */
function checkSharedKeys(node: SourceNode, collector: DiagnosticCollector, seen: Set<SourceNode>): void {
  if (seen.has(node)) return;
  seen.add(node);
  checkKey(node, collector);
  const parts = node.kind === 'list' ? node.items : entriesOf(node).map(({ value }) => value);
  for (const part of parts) checkSharedKeys(part, collector, seen);
}

function checkBaseUrl(service: SourceNode | undefined, collector: DiagnosticCollector): void {
  const node = member(service, 'baseUrl');
  if (!isText(node) || node.value === '' || node.value.includes('${')) return;
  const url = URL.canParse(node.value) ? new URL(node.value) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    collector.secret(node.span);
    const hint = 'Write the key in service.apiKey, as ${VAR}.';
    collector.error(
      'service.base-url',
      node.span,
      'The base address must not contain a user name or password.',
      hint,
    );
  } else if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    const variable = /^\$(\w+)$/.exec(node.value)?.[1];
    const hint =
      variable === undefined
        ? 'For example https://gateway.example.com'
        : mayBeSent(variable)
          ? `Write a variable as \${${variable}}.`
          : `Write \${${addressVariable}} and set that variable, or name yours PROMPTPRESS_VAR_${variable} and write \${PROMPTPRESS_VAR_${variable}}.`;
    collector.error(
      'service.base-url',
      node.span,
      variable === undefined
        ? 'The base address must be an http or https address without ? and #.'
        : `"${node.value}" is read as an address: a variable has braces, \${NAME}${mayBeSent(variable) ? '' : ', and this one is not read here'}.`,
      hint,
    );
  }
}

/** Checks that each `${` in the service block, except in `apiKey`, opens a well-formed variable that may be sent. */
function checkVariables(node: SourceNode | undefined, collector: DiagnosticCollector): void {
  if (node?.kind === 'list') for (const item of node.items) checkVariables(item, collector);
  for (const { key, value } of entriesOf(node)) if (key !== 'apiKey') checkVariables(value, collector);
  if (!isText(node)) return;
  const locate = scalarLocator(collector.source, node);
  for (const found of node.value.matchAll(variableReference)) {
    const [text, name = ''] = found;
    if (mayBeSent(name)) continue;
    collector.error(
      'service.variable-name',
      locate(found.index, text.length),
      `The variable ${name} may hold a secret and is not read here.`,
      `The service block reads PROMPTPRESS_BASE_URL and variables whose names begin with PROMPTPRESS_VAR_: set PROMPTPRESS_VAR_${name} instead. A key belongs in service.apiKey, which may name any variable.`,
    );
  }
  const rest = node.value.replace(variableReference, (found) => ' '.repeat(found.length));
  const at = rest.indexOf('${');
  if (at === -1) return;
  const hint = 'Write ${VAR} or ${VAR:-default}; VAR has letters, digits and underscores.';
  collector.error('service.variable', locate(at, 2), 'This variable is not well formed.', hint);
}

/** Warns of variables outside the service block, where the text is sent as it stands. */
function warnOfVariables(node: SourceNode, collector: DiagnosticCollector, seen: Set<SourceNode>): void {
  if (seen.has(node)) return;
  seen.add(node);
  if (node.kind === 'list') for (const item of node.items) warnOfVariables(item, collector, seen);
  for (const { value } of entriesOf(node)) warnOfVariables(value, collector, seen);
  if (!isText(node)) return;
  const locate = scalarLocator(collector.source, node);
  for (const found of node.value.matchAll(variableReference)) {
    if (collector.full) return;
    collector.warning(
      'service.variable-outside',
      locate(found.index, found[0].length),
      `${found[0]} is not replaced here: the environment is read in the service block only.`,
      'Values that change from run to run belong in the matrix; a secret must not be in a prompt.',
    );
  }
}

function checkOrder(
  root: SourceNode,
  block: 'poll' | 'retry',
  low: string,
  high: string,
  fallback: Readonly<Record<string, unknown>>,
  collector: DiagnosticCollector,
): void {
  const nodes = [member(member(root, block), low), member(member(root, block), high)] as const;
  const [lowMs, highMs] = [low, high].map((name, index) => {
    const node = nodes[index as 0 | 1];
    const text = node === undefined ? String(fallback[name]) : isText(node) ? node.value : '';
    return /^[0-9]+(\.[0-9]+)?(ms|s|m|h)$/.test(text) ? durationMs(text) : undefined;
  });
  const node = nodes[0] ?? nodes[1];
  if (node === undefined || lowMs === undefined || highMs === undefined || lowMs <= highMs) return;
  const missing = nodes[0] === undefined || nodes[1] === undefined;
  const message = `${block}.${low} must not be longer than ${block}.${high}.`;
  const hint = `By default ${block}.${low} is ${String(fallback[low])} and ${block}.${high} is ${String(fallback[high])}.`;
  collector.error('settings.order', node.span, message, missing ? hint : undefined);
}

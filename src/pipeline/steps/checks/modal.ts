import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { isPress } from '../../kinds.ts';
import type { Selector } from '../../pipeline.ts';
import { type ButtonWindow, windowOf } from '../../selectors/button-stage.ts';
import { hasTags } from '../../templates/compile.ts';
import {
  entriesOf,
  entryAt,
  isText,
  itemsOf,
  member,
  nodeAt,
  numberOf,
  type SourceEntry,
  type SourceNode,
  toValue,
} from '../../yaml/node.ts';
import { scalarLocator } from '../../yaml/scalar-offsets.ts';
import { boxError } from '../domain/mask.ts';
import type { CheckContext, StepDraft } from '../draft.ts';

/** Buttons that are pressed as one, with the answers to their windows. */
interface Press {
  readonly selectors: readonly Selector[];
  /** Mapping with `prompt`, `mask` and `remix`; undefined in a path that is one text. */
  readonly node?: SourceNode;
  /** Where to write missing answers. */
  readonly where: 'step' | 'path';
}

function pressesOf({ node, selector, path }: StepDraft): readonly Press[] {
  const own: readonly Press[] =
    selector !== undefined ? [{ selectors: [selector], node, where: 'step' }] : [];
  const items = itemsOf(member(node, 'path'));
  const segments = path.map(({ selectors }, index): Press => {
    const item = items[index];
    return { selectors, where: 'path', ...(item === undefined ? {} : { node: item }) };
  });
  return [...own, ...segments];
}

/**
 * Reports buttons whose windows require missing answers, and answers that a button does not need. Judges only by the names of buttons;
 * the window itself appears only in a run.
 */
export function checkModals(step: StepDraft, { collector }: CheckContext): void {
  for (const press of pressesOf(step)) {
    for (const selector of press.selectors) checkWanted(selector, press, collector);
    checkUseless(press, collector);
  }
}

const given = ({ node }: Press, key: 'prompt' | 'mask' | 'remix'): SourceEntry | undefined =>
  entryAt(node, key);

/** Windows that require a prompt: what the prompt must say, and an example. */
const wanted: readonly (readonly [window: ButtonWindow, wants: string, example: string])[] = [
  ['region', 'what to paint there', 'prompt: a red scarf, mask: masks/neck.png'],
  ['zoom', 'the prompt with --zoom', 'prompt: "a fox --zoom 1.5"'],
  ['manual', 'how the image moves', 'prompt: it turns its head'],
];

function checkWanted(selector: Selector, press: Press, collector: DiagnosticCollector): void {
  const windows = new Set(selector.alternatives.map(windowOf));
  const [, wants, example] = wanted.find(([window]) => windows.has(window)) ?? [];
  if (wants === undefined) return;
  const hint =
    press.where === 'step'
      ? `Write beside click: ${example}`
      : `Write the path as a list: - { button: "${selector.name}", ${example} }`;
  const what = `"${selector.name}" opens a window`;
  const prompt = given(press, 'prompt');
  if (prompt === undefined) {
    collector.error('modal.prompt', selector.position, `${what} that needs ${wants}.`, hint);
  } else if (windows.has('zoom')) {
    checkZoom(prompt.value, collector);
  }
  if (windows.has('region') && given(press, 'mask') === undefined) {
    collector.error('modal.mask', selector.position, `${what} that needs a mask of what to repaint.`, hint);
  }
}

const zoomFlag = /(?:^|\s)(?:--|—)zoom(?:[\s=]+(\S+)|(?!\S))/;

function checkZoom(node: SourceNode, collector: DiagnosticCollector): void {
  if (!isText(node)) return;
  const found = zoomFlag.exec(node.value);
  const hint = 'For example --zoom 1.5: from 1 to 2.';
  if (found === null) {
    // A template may yield it.
    if (hasTags(node.value)) return;
    collector.error('modal.zoom', node.span, 'The prompt of a Custom Zoom needs a factor: --zoom.', hint);
    return;
  }
  const [flag, value = ''] = found;
  if (hasTags(value) || value.includes('{')) return;
  const at = found.index + flag.search(/\S/);
  const position = scalarLocator(collector.source, node)(at, flag.trim().length);
  const zoom = Number(value);
  if (value === '' || !Number.isFinite(zoom)) {
    collector.error('modal.zoom', position, `--zoom needs a number, but "${value}" is not a number.`, hint);
  } else if (zoom < 1 || zoom > 2) {
    const message = `--zoom ${value} is not from 1 to 2, so it may be refused.`;
    collector.warning('modal.zoom', position, message, 'For example --zoom 1.5.');
  }
}

function checkUseless(press: Press, collector: DiagnosticCollector): void {
  const windows = press.selectors.flatMap(({ alternatives }) => alternatives.map(windowOf));
  const all = (...those: readonly ButtonWindow[]): boolean =>
    windows.length > 0 && windows.every((window) => those.includes(window));
  const names = press.selectors.map(({ name }) => `"${name}"`).join(', ');
  const [prompt, mask, remix] = [given(press, 'prompt'), given(press, 'mask'), given(press, 'remix')];
  const isRemixed = remix?.value.kind === 'scalar' && remix.value.value === true;
  if (mask !== undefined && all('zoom', 'manual', 'prompt', 'remix', 'none')) {
    const message = `${names} takes no mask.`;
    collector.warning('modal.unused', mask.keySpan, message, 'Vary (Region) does.');
  }
  if (prompt !== undefined && all('none')) {
    const message = `${names} opens no window, so it takes no prompt.`;
    collector.warning('modal.unused', prompt.keySpan, message, 'Leave it out.');
  } else if (prompt !== undefined && !isRemixed && all('remix', 'none')) {
    const message = `${names} takes a prompt only when it is remixed, or if the service's account always remixes.`;
    collector.warning('modal.remix', prompt.keySpan, message, 'Write remix: true beside it.');
  }
  if (remix !== undefined && isRemixed && all('none')) {
    const message = `${names} cannot be remixed.`;
    collector.warning('modal.unused', remix.keySpan, message, 'Leave it out.');
  }
}

/** Reports literal mask shapes that are empty or extend beyond the image. */
export function checkMasks(step: StepDraft, { collector }: CheckContext): void {
  const holders = [
    ...(step.kind === undefined ? [] : [isPress(step.kind) ? step.node : member(step.node, step.kind)]),
    ...itemsOf(member(step.node, 'path')),
  ];
  for (const holder of holders) {
    for (const shape of itemsOf(nodeAt(holder, ['mask', 'shapes']))) {
      for (const { key, value } of entriesOf(shape)) {
        if (value.kind !== 'list' || !isBox(value.items)) continue;
        const wrong = boxError(value.items.map(toValue));
        if (wrong === undefined) continue;
        const hint = 'A box is [x, y, width, height] in fractions of the image, from its upper left corner.';
        collector.error('mask.box', value.span, `This ${key} ${wrong}.`, hint);
      }
    }
  }
}

/** Whether a box has four literal fractions. The schema reports other values, except templates. */
const isBox = (items: readonly SourceNode[]): boolean =>
  items.length === 4 &&
  items.every((item) => {
    const number = numberOf(item);
    return number !== undefined && number >= 0 && number <= 1;
  });

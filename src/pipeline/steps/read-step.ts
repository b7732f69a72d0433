import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { type Locate, type Parsed, type Position } from '../diagnostics/diagnostic.ts';
import { isPress } from '../kinds.ts';
import type { BranchAddress, PathSegment, Selector, StepKind } from '../pipeline.ts';
import type { StepNode } from '../schema/check.ts';
import { keysOfStep } from '../schema/schema.ts';
import { parseAddress } from '../selectors/address.ts';
import { parsePath, parseSegment, parseSelector } from '../selectors/parse.ts';
import { defaults } from '../settings/read.ts';
import { compileCondition, compileTemplate, hasTags } from '../templates/compile.ts';
import type { StepUse, TemplateTree, VariableUse } from '../templates/template.ts';
import { compileTree, treeSteps, treeVariables } from '../templates/tree.ts';
import {
  entriesOf,
  isText,
  itemsOf,
  member,
  nodeAt,
  type SourceMapping,
  type SourceNode,
  type TextNode,
  toValue,
} from '../yaml/node.ts';
import { scalarLocator } from '../yaml/scalar-offsets.ts';
import { commentSlip } from '../yaml/slips.ts';
import { stepOfImage } from './domain/image-reference.ts';
import { type ImageUse, type NamedStepUse, type StepDraft, textFields } from './draft.ts';

/** Reads one step: compiles its templates, its path and its address. */
export function readStep(step: StepNode, collector: DiagnosticCollector): StepDraft {
  return new StepReader(step, collector).read();
}

const imageFields = new Set(['image', 'images', 'endImage']);

const stepName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

class StepReader {
  readonly #step: StepNode;
  readonly #collector: DiagnosticCollector;
  readonly #variables: VariableUse[] = [];
  /** Level of the path that is being read; 0 outside of the path. */
  #level = 0;
  readonly #steps: StepUse[] = [];
  readonly #names: NamedStepUse[] = [];
  readonly #images: ImageUse[] = [];
  #usesKnown = true;

  constructor(step: StepNode, collector: DiagnosticCollector) {
    this.#step = step;
    this.#collector = collector;
  }

  read(): StepDraft {
    const { name, key, node, entry } = this.#step;
    if (key === 'best') return this.#best();
    const kind = key;
    // The schema reports a key that this kind does not have; its value is not checked.
    const known = kind === undefined ? undefined : keysOfStep(kind);
    const at = (key: string): SourceNode | undefined =>
      known === undefined || known.includes(key) ? member(node, key) : undefined;
    const from = this.#address(at('from'));
    const gatherNode = at('gather');
    const over = this.#over(gatherNode);
    const gather = this.#address(gatherNode?.kind === 'mapping' ? member(gatherNode, 'step') : gatherNode);
    const list = this.#text(at('each'), compileTemplate);
    if (list !== undefined) this.#use(list);
    const maxNode = at('max');
    const max = maxNode?.kind === 'scalar' ? Number(maxNode.value) : defaults.step.max;
    const selector = this.#text(at('click'), parseSelector);
    if (selector !== undefined) this.#useSelector(selector);
    const request = kind === undefined ? {} : this.#request(kind, node);
    const path = this.#path(at('path'));
    const when = this.#text(at('when'), compileCondition);
    if (when !== undefined) this.#use(when);
    const extraNode = at('extra');
    const extra = extraNode?.kind === 'mapping' ? this.#members(extraNode) : undefined;
    const keepNode = at('keep');
    const keep = keepNode?.kind === 'scalar' && keepNode.value === false ? false : defaults.step.keep;
    const gridNode = at('grid');
    const split = isText(gridNode) && gridNode.value === 'split';
    const seedNode = at('seed');
    const hasSeed = seedNode?.kind === 'scalar' && seedNode.value === true;
    return {
      name,
      ...(kind === undefined ? {} : { kind }),
      node,
      position: this.#collector.source.position(entry.keySpan),
      ...(from === undefined ? {} : { from }),
      ...(gather === undefined ? {} : { gather }),
      ...(list === undefined ? {} : { each: { list, max } }),
      ...(over === undefined ? {} : { over }),
      request,
      ...(selector === undefined ? {} : { selector }),
      path: path ?? [],
      pathKnown: path !== undefined,
      ...(when === undefined ? {} : { when }),
      keep,
      ...(split && { split }),
      ...(hasSeed && { seed: hasSeed }),
      ...(extra === undefined ? {} : { extra }),
      ...this.#uses(),
    };
  }

  #best(): StepDraft {
    const { name, node, entry } = this.#step;
    const block = member(node, 'best');
    const fields = block?.kind === 'mapping' ? block : undefined;
    const from = this.#address(member(fields, 'from'));
    const by = this.#text(member(fields, 'by'), compileTemplate);
    if (by !== undefined) this.#use(by);
    const topNode = member(fields, 'top');
    const over = this.#over(fields);
    return {
      name,
      node,
      position: this.#collector.source.position(entry.keySpan),
      ...(from === undefined ? {} : { from }),
      ...(by === undefined
        ? {}
        : {
            best: {
              by,
              top: topNode?.kind === 'scalar' ? Number(topNode.value) : defaults.best.top,
              failed: failedIn(fields),
            },
          }),
      ...(over === undefined ? {} : { over }),
      request: {},
      path: [],
      pathKnown: true,
      keep: false,
      ...this.#uses(),
    };
  }

  #uses(): Pick<StepDraft, 'variables' | 'steps' | 'names' | 'images' | 'usesKnown'> {
    return {
      variables: this.#variables,
      steps: this.#steps,
      names: this.#names,
      images: this.#images,
      usesKnown: this.#usesKnown,
    };
  }

  /** Parses a text by a grammar; undefined if the value is not a text (which the schema reports) or has errors. */
  #text<T>(node: SourceNode | undefined, parse: (text: string, locate: Locate) => Parsed<T>): T | undefined {
    // The schema reports an empty text.
    if (!isText(node) || node.value === '') return undefined;
    const locate = scalarLocator(this.#collector.source, node);
    const parsed = parse(node.value, locate);
    if (parsed.ok) return parsed.value;
    const comment = node.style === 'plain' ? commentSlip(this.#collector.source, node.span) : undefined;
    for (const diagnostic of parsed.error)
      this.#collector.add({ ...diagnostic, ...(comment !== undefined && { hint: comment }) }, locate);
    this.#usesKnown = false;
    return undefined;
  }

  #address(node: SourceNode | undefined): BranchAddress | undefined {
    const address = this.#text(node, parseAddress);
    for (const output of Object.values(address?.outputs ?? {}))
      if (typeof output === 'object') this.#use(output);
    return address;
  }

  /** The schema reports values of other types. */
  #over(node: SourceNode | undefined): StepDraft['over'] {
    const named = node?.kind === 'mapping' ? member(node, 'over') : undefined;
    if (named === undefined) return undefined;
    const texts = (isText(named) ? [named] : itemsOf(named)).filter(isText);
    const axes = texts.map((text) => ({ name: text.value, position: this.#position(text) }));
    return {
      axes: isText(named) && named.value === 'all' ? undefined : axes,
      failed: failedIn(node),
      position: this.#collector.source.position(named.span),
    };
  }

  #request(kind: StepKind, node: SourceMapping): Readonly<Record<string, TemplateTree>> {
    if (isPress(kind)) {
      const modal = ['prompt', 'mask', 'remix'].flatMap((key) => node.entries.get(key) ?? []);
      return Object.fromEntries(modal.map(({ key, value }) => [key, this.#field(key, value)]));
    }
    const operation = member(node, kind);
    if (isText(operation)) return { prompt: this.#tree(operation, true) };
    const entries = entriesOf(operation);
    return Object.fromEntries(entries.map(({ key, value }) => [key, this.#field(key, value)]));
  }

  #field(key: string, node: SourceNode): TemplateTree {
    if (imageFields.has(key)) this.#useImages(node);
    else if (key === 'mask') this.#useMask(node);
    // The schema reports a value that is not a name.
    if (key === 'continue' && isText(node) && stepName.test(node.value)) {
      this.#names.push({ step: node.value, position: this.#position(node), image: false });
    }
    return this.#tree(node, textFields.has(key));
  }

  #members(node: SourceMapping): Readonly<Record<string, TemplateTree>> {
    return Object.fromEntries(entriesOf(node).map(({ key, value }) => [key, this.#tree(value)]));
  }

  /** @param asText whether the result becomes text even if the template is a single output */
  #tree(node: SourceNode, asText = false): TemplateTree {
    const { source } = this.#collector;
    const compiled = compileTree(toValue(node), (leaf) => scalarLocator(source, leafOf(node, leaf)));
    if (compiled.ok) {
      const asRead = <Use extends StepUse | VariableUse>(use: Use): Use =>
        asText && use.output !== undefined ? { ...use, output: 'within' } : use;
      this.#use({
        variables: treeVariables(compiled.value).map(asRead),
        steps: treeSteps(compiled.value).map(asRead),
      });
      return compiled.value;
    }
    for (const diagnostic of compiled.error) {
      this.#collector.add(diagnostic, () => diagnostic.position);
    }
    this.#usesKnown = false;
    return null;
  }

  #path(node: SourceNode | undefined): readonly PathSegment[] | undefined {
    if (node === undefined) return [];
    if (node.kind !== 'list') {
      const path = this.#text(node, parsePath);
      for (const [level, segment] of (path ?? []).entries()) {
        this.#level = level;
        this.#useSegment(segment);
      }
      this.#level = 0;
      return path;
    }
    const segments = node.items.map((item, level) => {
      this.#level = level;
      return this.#segment(item);
    });
    this.#level = 0;
    return segments.every((segment) => segment !== undefined) ? segments : undefined;
  }

  #segment(node: SourceNode): PathSegment | undefined {
    const segment = this.#text(node.kind === 'mapping' ? member(node, 'button') : node, parseSegment);
    const fields = node.kind === 'mapping' ? this.#modal(node) : {};
    if (segment === undefined) return undefined;
    this.#useSegment(segment);
    return { ...segment, ...fields };
  }

  #modal(node: SourceMapping): Pick<PathSegment, 'prompt' | 'mask' | 'remix'> {
    const promptNode = member(node, 'prompt');
    const maskNode = member(node, 'mask');
    const remixNode = member(node, 'remix');
    const prompt = promptNode === undefined ? undefined : this.#field('prompt', promptNode);
    const mask = maskNode === undefined ? undefined : this.#field('mask', maskNode);
    const remix = remixNode?.kind === 'scalar' ? remixNode.value : undefined;
    return {
      ...(isText(promptNode) && prompt !== undefined
        ? { prompt: prompt as PathSegment['prompt'] & object }
        : {}),
      ...(mask === undefined ? {} : { mask }),
      ...(typeof remix === 'boolean' ? { remix } : {}),
    };
  }

  #useSegment(segment: PathSegment): void {
    for (const selector of segment.selectors) this.#useSelector(selector);
  }

  #useSelector(selector: Selector): void {
    for (const match of selector.alternatives) if (match.kind === 'text') this.#use(match.text);
    if (typeof selector.output === 'object') this.#use(selector.output);
  }

  #use({ variables, steps }: { variables: readonly VariableUse[]; steps: readonly StepUse[] }): void {
    const level = this.#level;
    this.#variables.push(...(level === 0 ? variables : variables.map((use) => ({ ...use, level }))));
    this.#steps.push(...steps);
  }

  #useImages(node: SourceNode): void {
    if (node.kind === 'list') for (const item of node.items) this.#useImages(item);
    if (!isText(node) || hasTags(node.value)) return;
    const position = this.#position(node);
    const step = stepOfImage(node.value);
    if (step === undefined) this.#images.push({ text: node.value, position, mask: false });
    else this.#names.push({ step, position, image: true });
  }

  /** Records the file of a mask; `parent` and `steps.grid` are file names here. */
  #useMask(node: SourceNode): void {
    const file = isText(node) ? node : member(node, 'file');
    if (!isText(file) || hasTags(file.value)) return;
    this.#images.push({ text: file.value, position: this.#position(file), mask: true });
  }

  #position(node: TextNode): Position {
    return scalarLocator(this.#collector.source, node)(0, node.value.length);
  }
}

function failedIn(node: SourceNode | undefined): 'block' | 'ignore' {
  const failed = member(node, 'failed');
  return isText(failed) && failed.value === 'ignore' ? 'ignore' : 'block';
}

function leafOf(node: SourceNode, path: readonly (string | number)[]): TextNode {
  const at = nodeAt(node, path);
  if (isText(at)) return at;
  // A list that is nested too deeply has no text; its position is the best one available.
  return { kind: 'scalar', style: 'plain', value: '', span: (at ?? node).span };
}

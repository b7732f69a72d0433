import { isPress } from '../../pipeline/kinds.ts';
import type { Reduction, Step } from '../../pipeline/pipeline.ts';
import { gatheredName } from '../../pipeline/steps/checks/reduce.ts';
import { isLocal, type TemplateScope } from '../../pipeline/templates/template.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { Cell } from '../cell.ts';
import { stepNamed } from '../graph/order.ts';
import {
  type SlotGraph,
  type SlotTemplate,
  type StepTemplates,
  unknownItem,
} from '../graph/slot-template.ts';
import { inputsOf } from '../job.ts';
import type { Press, ShownJob } from '../job-request.ts';
import { keyFromText } from '../key.ts';
import { type CellGroups, reductionId } from '../matrix/groups.ts';
import { textPress } from '../request/click.ts';
import { type ImageFiles, noImageFiles } from '../request/image-files.ts';
import type { RecordLookup, Slot } from '../slot.ts';
import {
  type Branch,
  conditionFails,
  droppedItems,
  emptyList,
  missingButton,
  noList,
  noSegments,
  wildcardChoice,
  within,
} from './branches.ts';
import { standing } from './former.ts';
import { areReadable, type Seen, seenAs, seenByGroup, startOfGroup } from './group.ts';
import { CellRedos } from './lineage.ts';
import { CellOutputs } from './outputs.ts';
import { readNamed } from './references.ts';
import { CellSlot, type DependencyState, drawnAbove, oneParent, type Resolved } from './resolved.ts';
import { gatheredValue, nearestJob, readNamedSteps } from './scope.ts';
import { buttonsAbove, isFree, judge, type KnownReadings, type Reading, readingOf } from './slot-status.ts';
import {
  doneDependency,
  gatheredStart,
  openDependency,
  rootStart,
  startBelow,
  startOf,
  stateOf,
  type Upstream,
} from './upstream.ts';

/** What resolving needs of a plan. */
export interface Resolvable {
  readonly serviceId: string;
  readonly slotGraph: SlotGraph;
  /** The groups by which steps are reduced, by `reductionId`; without them no step may be reduced. */
  readonly groups?: ReadonlyMap<string, CellGroups>;
  /** The files that requests show; without it none is there. */
  readonly images?: ImageFiles;
  /** What its cells ask for, as far as that follows from them alone and was worked out before. */
  readonly known?: KnownReadings;
  /** Error codes that the pipeline accepts; default: none. */
  readonly accepted?: ReadonlySet<string>;
}

/** What a template sees, and whether that is there to stay. */
interface Opened {
  readonly scope: TemplateScope;
  readonly dependency: DependencyState;
}

/**
 * Everything that the plan and the state say about one cell: its slots, the request of each, and whether that request may
 * be sent now. Pure: the same plan, cell and records give the same slots. In the manifest's order.
 *
 * The last cell of a group has also the slots of steps that are reduced by it, for which the other cells of the group are resolved. Asks
 * `lookup` at most once for each slot, and for other jobs only where one may have to be redone. While records settle, slots only go forward:
 * one that is done, failed, skipped or blocked stays so until the user redoes its job, or a job that it comes from.
 */
export function resolveCell(plan: Resolvable, cell: Cell, lookup: RecordLookup): readonly Slot[] {
  return new CellResolution(plan, cell, lookup).slots();
}

class CellResolution {
  readonly #plan: Resolvable;
  readonly #cell: Cell;
  readonly #lookup: RecordLookup;
  readonly #own: Seen;
  readonly #groups = new Map<string, Seen>();
  /** What steps gather over axes, by step. */
  readonly #gathered = new Map<string, () => readonly Value[]>();
  /** The cells of its groups, by number. */
  readonly #members = new Map<number, CellResolution>();
  /** By step, depth first. */
  readonly #resolved = new Map<string, Resolved[]>();
  readonly #redos: CellRedos;
  readonly #outputs: CellOutputs;

  constructor(plan: Resolvable, cell: Cell, lookup: RecordLookup) {
    this.#plan = plan;
    this.#cell = cell;
    this.#lookup = lookup;
    this.#own = seenAs(cell);
    this.#members.set(cell.number, this);
    this.#redos = new CellRedos(lookup);
    this.#outputs = new CellOutputs(this.#resolved, this.#own.slotId);
  }

  slots(): readonly Slot[] {
    this.#resolveSteps(this.#plan.slotGraph.order);
    const [slots, reduced]: [Slot[], Slot[]] = [[], []];
    for (const name of this.#plan.slotGraph.steps.keys())
      for (const { template, slot } of stepNamed(this.#resolved, name))
        if (template.copyOf === undefined) (slot.group === undefined ? slots : reduced).push(slot);
    return reduced.length === 0 ? slots : [...slots, ...reduced];
  }

  #resolveSteps(order: readonly StepTemplates[]): void {
    for (const { step, operations, from } of order) {
      if (this.#resolved.has(step.name)) continue;
      const found: Resolved[] = [];
      this.#resolved.set(step.name, found);
      if (step.reduced !== undefined && !this.#groupsOf(step.reduced).isLast(this.#cell.number)) continue;
      if (from === undefined)
        for (const template of operations) this.#resolve(template, this.#start(template), found);
      else
        for (const [place, above] of this.#at(from.step, from.operations)) {
          const template = from.operations.get(place);
          if (template !== undefined) this.#resolve(template, startBelow(above), found);
        }
    }
  }

  readonly #groupsOf = (reduction: Reduction): CellGroups =>
    stepNamed(this.#plan.groups ?? new Map<string, CellGroups>(), reductionId(reduction));

  #seenBy({ reduced }: Step): Seen {
    if (reduced === undefined) return this.#own;
    const id = reductionId(reduced);
    const known = this.#groups.get(id);
    if (known !== undefined) return known;
    const seen = seenByGroup(this.#groupsOf(reduced), this.#cell, reduced);
    this.#groups.set(id, seen);
    return seen;
  }

  /** What an operation that continues no other starts from. */
  #start({ step: own, gathers }: SlotTemplate): Upstream {
    if (gathers === undefined) return rootStart;
    const { step, templates, steps } = gathers;
    return steps === undefined
      ? gatheredStart([...this.#at(step, templates)].map(([, job]) => job))
      : this.#startOver(own, gathers, steps);
  }

  /** Gathers over axes: from all cells of the group in which the gathered step has jobs. */
  #startOver(
    { name, reduced, over }: Step,
    { step, templates }: NonNullable<SlotTemplate['gathers']>,
    steps: readonly StepTemplates[],
  ): Upstream {
    if (reduced === undefined) throw new Error(`Internal error: step "${name}" is reduced by nothing.`);
    const groups = this.#groupsOf(reduced);
    const cells = new Map<Resolved, Cell>();
    for (const number of groups.numbers(this.#cell.number)) {
      const cell = groups.cell(number, this.#cell);
      const member = this.#members.get(number) ?? new CellResolution(this.#plan, cell, this.#lookup);
      this.#members.set(number, member);
      if (member !== this) {
        member.#resolveSteps(steps);
        this.#redos.include(member.#redos);
      }
      for (const [, job] of member.#at(step, templates)) cells.set(job, member.#cell);
    }
    const start = startOfGroup(cells, over?.failed === 'ignore');
    this.#gathered.set(name, () => start.jobs.map((job) => gatheredValue(job, cells.get(job) ?? this.#cell)));
    return start;
  }

  /** The jobs of a step at some of its places, and their outputs, in the manifest's order. */
  *#at(
    step: string,
    places: Pick<ReadonlySet<SlotTemplate>, 'has'>,
  ): Generator<readonly [SlotTemplate, Resolved]> {
    for (const job of stepNamed(this.#resolved, step)) {
      if (places.has(job.template)) yield [job.template, job];
      for (const place of job.template.outputs.values())
        if (places.has(place)) for (const output of this.#outputs.at(place, job)) yield [place, output];
    }
  }

  /** One place from one start: its slot, or one for each of its branches, and what its step presses on them. */
  #resolve(template: SlotTemplate, given: Upstream, found: Resolved[]): void {
    const start = startOf(template, given);
    const scope = start.above?.scope ?? this.#seenBy(template.step).scope;
    const { each } = template;
    const items =
      each === undefined ? [{ segments: noSegments, scope }] : this.#items(template, each, start, scope);
    if ('dependency' in items) {
      // Until the list is known, nothing is settled, whatever becomes of the slot above.
      const held = items.dependency.kind === 'open' ? { ...start, dependency: openDependency } : start;
      this.#add(template, held, { segments: template.segments, scope }, items, found);
    } else for (const item of items) this.#resolveItem(template, start, item, found);
    for (const named of template.names.values()) this.#resolve(named, given, found);
  }

  /** The items of a place's list, in its order; or why they are not known, or why there are none. */
  #items(
    { when, whenWaits }: SlotTemplate,
    { list, max, steps }: NonNullable<SlotTemplate['each']>,
    start: Upstream,
    scope: TemplateScope,
  ): readonly Branch[] | Reading {
    return readingOf((): readonly Branch[] | Reading => {
      // A condition on an item decides for each item.
      if (when !== undefined && !whenWaits && !when.variables.some(isLocal) && !when.holds(scope))
        return { dependency: doneDependency, off: conditionFails };
      const read = readNamedSteps(steps, start.above, this.#resolved);
      if (read.kind !== 'known') return { dependency: read };
      const { dependency } = read;
      const value = list.evaluate({ ...scope, steps: read.values });
      if (!Array.isArray(value)) return { dependency, failure: noList(value) };
      const items: readonly Value[] = value;
      if (items.length === 0) return { dependency, off: emptyList };
      const dropped = items.length > max ? droppedItems(items.length, max) : undefined;
      const [made] = steps;
      if (dropped !== undefined && made !== undefined)
        nearestJob(made, start.above, stepNamed(this.#resolved, made)).slot.warn(dropped);
      return items.slice(0, max).map((item, index) => ({
        segments: [`[${index + 1}]`],
        scope: { ...scope, vars: { ...scope.vars, item, item_index: index + 1 } },
        ...(dependency.kind === 'open' && { isHeld: true }),
        // A list of the matrix has no row of its own.
        ...(made === undefined && index === 0 && { warning: dropped }),
      }));
    });
  }

  #resolveItem(template: SlotTemplate, start: Upstream, item: Branch, found: Resolved[]): void {
    const branches = this.#branches(template, start, item);
    if ('dependency' in branches) this.#add(template, start, within(item, template.segment), branches, found);
    else
      for (const branch of branches)
        this.#add(template, start, branch, this.#read(template, start, branch), found);
  }

  /** The branches of an item of a place, in the manifest's order; or why they are not known, or why there are none. */
  #branches(template: SlotTemplate, start: Upstream, item: Branch): readonly Branch[] | Reading {
    const { kind, selector, segment, segments, named, each } = template;
    if (named !== undefined) return [this.#namedBranch(template, start, item)];
    const branch = each === undefined ? { ...item, segments } : within(item, segment);
    const outputs = start.jobs.flatMap(({ output }) => output ?? []);
    const error = outputs.find((output) => output.error && !(isPress(kind) && output.number))?.error;
    if (error !== undefined) return { dependency: doneDependency, failure: error };
    const [{ number } = {}] = outputs;
    if (isPress(kind) && number !== undefined)
      return [{ ...branch, press: textPress(`${segment}${number}`) }];
    if (!template.wild) return [branch];
    const opened = this.#open(template, start, item.scope);
    if (!('scope' in opened)) return opened;
    const buttons = buttonsAbove(start);
    if (selector === undefined || buttons === undefined) return { dependency: opened.dependency };
    const choice = wildcardChoice(selector, buttons);
    if (choice.kind === 'missing') return { dependency: doneDependency, failure: choice.error };
    return choice.found.map(({ name, press }) => ({ ...within(item, name), press }));
  }

  /** A wildcard's branch that an address names: known by its name before, and checked when the buttons are known. */
  #namedBranch(
    { selector, segment = '', segments, named }: SlotTemplate,
    start: Upstream,
    item: Branch,
  ): Branch {
    const { above } = start;
    const buttons = above === undefined ? undefined : buttonsAbove({ above, dependency: above.dependency });
    if (selector === undefined || buttons === undefined) return { ...item, segments, press: named };
    const choice = wildcardChoice(selector, buttons);
    const one = choice.kind === 'found' ? choice.found.find(({ name }) => name === segment) : undefined;
    return one === undefined
      ? { ...item, segments, failure: missingButton(segment, buttons) }
      : { ...item, segments, press: one.press };
  }

  #add(
    template: SlotTemplate,
    start: Upstream,
    { segments, scope, warning, isHeld = start.above?.isHeld ?? false }: Branch,
    reading: Reading,
    found: Resolved[],
  ): void {
    const { above } = start;
    // Most branches are as the file says, and share its list of segments.
    const asWritten =
      segments === template.segments && (above === undefined || above.slot.branch === above.template.branch);
    const branch = asWritten ? template.branch : [...(above?.slot.branch ?? []), ...segments];
    const isUnknown = segments[0] === unknownItem && template.each !== undefined;
    const bound = (above?.bound ?? 1) * (isUnknown ? (template.each?.bound ?? 1) : 1);
    const { job } = reading;
    const record = job === undefined ? undefined : this.#lookup(job.key);
    const { cause, status, ready, error, unsaved, uncut, unseeded, accepted } = judge(
      template,
      start.dependency,
      reading,
      record,
      this.#plan.accepted,
    );
    const redo = this.#redos.of(job, record, isFree(start, reading));
    const { outdated, waitsForRedo, isToCome } = redo;
    const continued = template.request.hasPrompt ? undefined : drawnAbove(above);
    const said = reading.prompt ?? continued?.said;
    const prompt = said ?? reading.suggested ?? continued?.slot.prompt;
    const { slotId, group } = this.#seenBy(template.step);
    const slot = new CellSlot(template, {
      cell: this.#cell.number,
      branch,
      status,
      ready: redo.ready ?? ready ?? false,
      outdated,
      waitsForRedo,
      job,
      asks: job === undefined ? template.request.asks?.(scope) : undefined,
      record,
      prompt,
      error,
      unsaved,
      uncut,
      unseeded,
      accepted,
      bound,
      group,
      idOf: slotId,
      asWritten,
    });
    const resolved: Resolved = {
      template,
      above,
      slot,
      bound,
      scope,
      said,
      isHeld,
      dependency: isToCome || (isHeld && status === 'done') ? openDependency : stateOf(slot, cause),
      stands:
        record !== undefined && (record.former !== undefined || ((isToCome || isHeld) && status === 'done')),
    };
    if (warning !== undefined) slot.warn(warning);
    found.push(resolved);
    for (const place of template.outputs.values())
      if (place.below.length > 0)
        for (const output of this.#outputs.at(place, resolved)) this.#resolveBelow(place, output, found);
    this.#resolveBelow(template, resolved, found);
  }

  #resolveBelow(template: SlotTemplate, resolved: Resolved, found: Resolved[]): void {
    if (template.below.length === 0) return;
    const below = startBelow(resolved);
    for (const next of template.below) this.#resolve(next, below, found);
  }

  /** What this place asks for in this cell, whether or not it may be asked for yet. */
  #read(template: SlotTemplate, start: Upstream, { press, failure, scope: seen }: Branch): Reading {
    if (failure !== undefined) return { dependency: doneDependency, failure };
    const opened = this.#open(template, start, seen);
    if (!('scope' in opened)) return opened;
    const { scope, dependency } = opened;
    const known = this.#isOwn(template, start)
      ? this.#plan.known?.get(this.#cell.number, template.index)
      : undefined;
    const reading = known ?? readingOf(() => this.#request(template, start, scope, press));
    return dependency.kind === 'done' || reading.dependency.kind !== 'done'
      ? reading
      : { ...reading, dependency };
  }

  /**
   * What this place's templates see, or why they are not to be rendered. A condition that waits for nothing decides
   * before anything else.
   */
  #open(
    { step, when, whenWaits, waits, readsGathered }: SlotTemplate,
    start: Upstream,
    seen: TemplateScope,
  ): Opened | Reading {
    return readingOf((): Opened | Reading => {
      const list = readsGathered ? start.dependency : doneDependency;
      if (list.kind !== 'done' && (list.kind !== 'open' || !areReadable(start))) return { dependency: list };
      const own = readsGathered
        ? { ...seen, vars: { ...seen.vars, [gatheredName]: this.#gathered.get(step.name)?.() ?? [] } }
        : seen;
      if (when !== undefined && !whenWaits && !when.holds(own))
        return { dependency: doneDependency, off: conditionFails };
      if (waits.length === 0) return { scope: own, dependency: list };
      const steps = readNamedSteps(waits, start.above, this.#resolved);
      if (steps.kind !== 'known') return { dependency: steps };
      const dependency = steps.dependency.kind === 'done' ? list : steps.dependency;
      const scope = { ...own, steps: steps.values };
      if (whenWaits && when?.holds(scope) === false) return { dependency, off: conditionFails };
      return { scope, dependency };
    });
  }

  /** Keys of the jobs whose results the templates of a request name. */
  #reads({ request }: SlotTemplate, start: Upstream): readonly string[] {
    return request.steps.flatMap(
      (name) => nearestJob(name, start.above, this.#resolved.get(name) ?? []).slot.job?.key ?? [],
    );
  }

  /** The job, once all that its key is made of is known. */
  #request(template: SlotTemplate, start: Upstream, scope: TemplateScope, found: Press | undefined): Reading {
    const { dependency, keyOf, imageCount, failure: empty } = readNamed(template, start, this.#resolved);
    const { keys } = start;
    const prompted = drawnAbove(start.above)?.said;
    const made = start.above?.slot.record && standing(start.above.slot.record).result;
    const rendered = template.request.render(scope, {
      ...(found === undefined ? {} : { found }),
      ...(keys === undefined ? {} : { inputs: start.jobs.map(shownAs) }),
      keyOf,
      images: this.#plan.images ?? noImageFiles,
      imageCount,
      ...(prompted === undefined ? {} : { prompt: prompted }),
      ...(made === undefined ? {} : { made }),
    });
    const { prompt, suggested, known, failure } = rendered;
    const shortage = empty ?? rendered.shortage;
    const reading: { -readonly [Name in keyof Reading]: Reading[Name] } = { dependency };
    if (prompt !== undefined) reading.prompt = prompt;
    if (suggested !== undefined) reading.suggested = suggested;
    if (failure !== undefined) reading.failure = failure;
    if (shortage !== undefined) reading.shortage = shortage;
    if (keys === undefined || known === undefined) return reading;
    const { request, text, files } = known;
    const key = keyFromText(text, this.#plan.serviceId, inputsOf(keys), this.#cell.repeat);
    const reads = this.#redos.before(key, this.#reads(template, start));
    reading.job = {
      key,
      kind: template.kind,
      request,
      ...oneParent(keys),
      ...(files === undefined ? {} : { files }),
      ...(template.request.call && { call: template.request.call }),
      ...(reads.length === 0 ? {} : { reads }),
    };
    if (this.#isOwn(template, start))
      this.#plan.known?.keep(this.#cell.number, template.index, reading, text.length);
    return reading;
  }

  /** What it asks for follows from the cell alone. */
  #isOwn({ request }: SlotTemplate, start: Upstream): boolean {
    return request.fromCell && start === rootStart;
  }
}

/** How a request names a job, or its output; undefined while its file is not known. */
const shownAs = ({ slot: { job }, output }: Resolved): ShownJob | undefined => {
  if (job === undefined || (output !== undefined && output.file === undefined)) return undefined;
  return { job: job.key, ...(output?.file && { output: output.file.output }) };
};

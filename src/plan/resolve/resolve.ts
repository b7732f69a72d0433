import type { Reduction, Step } from '../../pipeline/pipeline.ts';
import { gatheredName } from '../../pipeline/steps/checks/reduce.ts';
import { type TemplateScope } from '../../pipeline/templates/template.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { Cell } from '../cell.ts';
import { stepNamed } from '../graph/order.ts';
import {
  type Picks,
  type SlotGraph,
  type SlotTemplate,
  type StepTemplates,
  unknownItem,
} from '../graph/slot-template.ts';
import { inputsOf } from '../job.ts';
import type { Press } from '../job-request.ts';
import { keyFromText } from '../key.ts';
import { type CellGroups, reductionId } from '../matrix/groups.ts';
import { type ImageFiles, noImageFiles } from '../request/image-files.ts';
import type { RecordLookup, Slot } from '../slot.ts';
import { type Branch, branchesOf, conditionFails, itemsOf, type Opened, within } from './branches.ts';
import { standing } from './former.ts';
import { areReadable, type Seen, seenAs, seenByGroup, startOfGroup } from './group.ts';
import { CellRedos } from './lineage.ts';
import { CellOutputs } from './outputs.ts';
import { type Candidate, choose, type Picked, pickedAs, picksAt, readBelow } from './picks.ts';
import { keysOf, readNamed } from './references.ts';
import { CellSlot, drawnAbove, oneParent, type ReadSteps, type Resolved, shownAs } from './resolved.ts';
import { readNamedSteps } from './scope.ts';
import { isFree, judge, type KnownReadings, type Reading, readingOf } from './slot-status.ts';
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

/**
 * Everything that the plan and the state say about one cell: its slots, the request of each, and whether that request may
 * be sent now. Pure: the same plan, cell and records give the same slots. In the manifest's order.
 *
 * The last cell of a group has also the slots of steps that are reduced by it, for which the other cells of the group are resolved. Asks
 * `lookup` at most once for each slot, and for other jobs only where one may have to be redone. While records settle, slots only go forward:
 * one that is done, failed, skipped or blocked stays so until the user redoes its job, or a job that it comes from.
 *
 * @param isOwn without the slots of groups, for which no other cell is resolved
 */
export function resolveCell(
  plan: Resolvable,
  cell: Cell,
  lookup: RecordLookup,
  isOwn = false,
): readonly Slot[] {
  return new CellResolution(plan, cell, lookup).slots(isOwn || cell.groupsElsewhere === true);
}

/**
 * What the steps of a plan that pick have picked in a cell, or in the groups of which it is the last: nothing before they are settled. Pure,
 * like {@link resolveCell}.
 */
export function picksIn(plan: Resolvable, cell: Cell, lookup: RecordLookup): readonly Picked[] {
  const resolution = new CellResolution(plan, cell, lookup);
  resolution.slots(false);
  return resolution.picked.flatMap(({ step, picked }) =>
    picked.map(({ job }, index) => pickedAs(`${step}/${index + 1}`, job)),
  );
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
  /** What its steps picked: {@link Choice.picked}. */
  readonly picked: { readonly step: string; readonly picked: readonly Candidate[] }[] = [];
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

  slots(isOwn: boolean): readonly Slot[] {
    this.#resolveSteps(this.#plan.slotGraph.order, isOwn);
    const [slots, reduced]: [Slot[], Slot[]] = [[], []];
    for (const name of this.#plan.slotGraph.steps.keys())
      for (const { template, slot } of stepNamed(this.#resolved, name))
        if (template.copyOf === undefined) (slot.group === undefined ? slots : reduced).push(slot);
    return reduced.length === 0 ? slots : [...slots, ...reduced];
  }

  #resolveSteps(order: readonly StepTemplates[], isOwn = false): void {
    for (const { step, operations, from, picks } of order) {
      if (this.#resolved.has(step.name)) continue;
      const found: Resolved[] = [];
      this.#resolved.set(step.name, found);
      const { reduced } = step;
      if (reduced && (isOwn || !this.#groupsOf(reduced).isLast(this.#cell.number))) continue;
      if (picks !== undefined) found.push(...this.#pick(picks, operations));
      else if (from === undefined)
        for (const template of operations) this.#resolve(template, this.#start(template), found);
      else
        for (const [place, above] of this.#outputs.jobsAt(from.step, from.operations)) {
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
    if (steps === undefined)
      return gatheredStart([...this.#outputs.jobsAt(step, templates)].map(([, job]) => job));
    const { name, reduced, over } = own;
    if (reduced === undefined) throw new Error(`Internal error: step "${name}" is reduced by nothing.`);
    const jobs = new Map<Resolved, Cell>();
    for (const member of this.#membersOf(reduced, steps))
      for (const [, job] of member.#outputs.jobsAt(step, templates)) jobs.set(job, member.#cell);
    const { start, values } = startOfGroup(jobs, over?.failed === 'ignore');
    this.#gathered.set(name, values);
    return start;
  }

  #pick(picks: Picks, places: readonly SlotTemplate[]): readonly Resolved[] {
    const { step, templates, steps } = picks;
    const { reduced, best, from } = step;
    const isOver = best.over !== undefined && reduced !== undefined;
    const members = isOver ? this.#membersOf(reduced, steps) : [this];
    const candidates = members.flatMap((member) =>
      [...member.#outputs.jobsAt(from.step, templates)].map(
        ([, job]): Candidate => ({ job, cell: member.#cell, steps: job.steps ?? member.#resolved }),
      ),
    );
    const choice = choose(picks, candidates);
    this.picked.push({ step: step.name, picked: choice.picked });
    const { slotGraph } = this.#plan;
    return picksAt(places, picks, choice, this.#cell.number, this.#seenBy(step), (candidate) =>
      readBelow(picks, slotGraph, this.#resolved, candidate),
    );
  }

  /** The cells of the group of which this is the last, with these steps resolved. */
  #membersOf(reduction: Reduction, steps: readonly StepTemplates[]): readonly CellResolution[] {
    const groups = this.#groupsOf(reduction);
    return groups.numbers(this.#cell.number).map((number) => {
      const member =
        this.#members.get(number) ??
        new CellResolution(this.#plan, groups.cell(number, this.#cell), this.#lookup);
      this.#members.set(number, member);
      if (member === this) return this;
      member.#resolveSteps(steps);
      this.#redos.include(member.#redos);
      return member;
    });
  }

  #stepsAt({ above }: Upstream): ReadSteps {
    return above?.steps ?? this.#resolved;
  }

  /** One place from one start: its slot, or one for each of its branches, and what its step presses on them. */
  #resolve(template: SlotTemplate, given: Upstream, found: Resolved[]): void {
    const start = startOf(template, given);
    const scope = start.above?.scope ?? this.#seenBy(template.step).scope;
    const items = itemsOf(template, start, scope, this.#stepsAt(start));
    if ('dependency' in items) {
      // Until the list is known, nothing is settled, whatever becomes of the slot above.
      const held = items.dependency.kind === 'open' ? { ...start, dependency: openDependency } : start;
      this.#add(template, held, { segments: template.segments, scope }, items, found);
    } else for (const item of items) this.#resolveItem(template, start, item, found);
    for (const named of template.names.values()) this.#resolve(named, given, found);
  }

  #resolveItem(template: SlotTemplate, start: Upstream, item: Branch, found: Resolved[]): void {
    const branches = branchesOf(template, start, item, () => this.#open(template, start, item.scope));
    if ('dependency' in branches) this.#add(template, start, within(item, template.segment), branches, found);
    else
      for (const branch of branches)
        this.#add(template, start, branch, this.#read(template, start, branch), found);
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
    const { slotId, ...own } = this.#seenBy(template.step);
    const group = above === undefined ? own.group : above.slot.group;
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
      held: isHeld && status === 'done' ? true : undefined,
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
      steps: above?.steps,
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
      const steps = readNamedSteps(waits, start.above, this.#stepsAt(start));
      if (steps.kind !== 'known') return { dependency: steps };
      const dependency = steps.dependency.kind === 'done' ? list : steps.dependency;
      const scope = { ...own, steps: steps.values };
      if (whenWaits && when?.holds(scope) === false) return { dependency, off: conditionFails };
      return { scope, dependency };
    });
  }

  /** The job, once all that its key is made of is known. */
  #request(template: SlotTemplate, start: Upstream, scope: TemplateScope, found: Press | undefined): Reading {
    const {
      dependency,
      keyOf,
      imageCount,
      failure: empty,
    } = readNamed(template, start, this.#stepsAt(start));
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
    const reads = this.#redos.before(key, keysOf(template.request.steps, start, this.#stepsAt(start)));
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

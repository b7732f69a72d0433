import { formatBranch } from '../../pipeline/selectors/parse.ts';
import type { SlotGraph, SlotTemplate } from '../../plan/graph/slot-template.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { StepWork } from './step-start.ts';

type Place = Pick<StepWork, 'level'> & { readonly step: string };

const placeOf = ({ step, level }: SlotTemplate): Place => ({ step: step.name, level });
const idOf = ({ step, level }: Place): string => `${level} ${step}`;

/**
 * Returns the work of each step of a plan, by name: its own operations and each level of its path.
 *
 * @param places indexes of the chosen places
 * @param records finished jobs of earlier runs, which give usual durations
 */
export function stepWork(
  { templates, steps }: Pick<SlotGraph, 'templates' | 'steps'>,
  places: ReadonlySet<number>,
  records: readonly JobRecord[],
): ReadonlyMap<string, readonly StepWork[]> {
  const groups = new Map<string, SlotTemplate[]>();
  for (const template of templates) {
    if (!places.has(template.index)) continue;
    const id = idOf(placeOf(template));
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [template]);
    else group.push(template);
  }
  const direct = (template: SlotTemplate): readonly SlotTemplate[] => [
    ...(template.above === undefined ? [] : [template.above]),
    ...(template.gathers?.templates ?? []),
    ...[...template.waits, ...template.request.names].flatMap(
      (name) => steps.get(name)?.operations.slice(0, 1) ?? [],
    ),
  ];
  const found = new Map<string, StepWork[]>();
  for (const group of groups.values()) {
    // All slots of a group need the same work, each on its own branch.
    const [first] = group;
    if (first === undefined) continue;
    const { step, level } = placeOf(first);
    const branches = group.map(({ branch }) => formatBranch(branch));
    const usualMs = usualOf(records, step, first.open ? undefined : new Set(branches));
    const work: StepWork = {
      level,
      slots: group.length,
      open: group.some(({ open }) => open),
      branches,
      needs: neededBy(first, direct),
      after: unique(direct(first).map(placeOf)),
      ...(usualMs === undefined ? {} : { usualMs }),
    };
    found.set(
      step,
      [...(found.get(step) ?? []), work].toSorted((one, other) => one.level - other.level),
    );
  }
  return found;
}

/** Returns the slots that one slot needs, directly or through other slots. */
function neededBy(
  first: SlotTemplate,
  direct: (template: SlotTemplate) => readonly SlotTemplate[],
): StepWork['needs'] {
  const seen = new Set<SlotTemplate>();
  const open = [...direct(first)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...direct(next));
  }
  const counts = new Map<string, Place & { slots: number }>();
  for (const template of seen) {
    const place = placeOf(template);
    const known = counts.get(idOf(place));
    if (known === undefined) counts.set(idOf(place), { ...place, slots: 1 });
    else known.slots += 1;
  }
  return [...counts.values()];
}

const unique = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map((place) => [idOf(place), place])).values(),
];

/** Returns the median of the known durations, ms: a killed run leaves some that are far too long. */
function usualOf(
  records: readonly JobRecord[],
  step: string,
  branches: ReadonlySet<string> | undefined,
): number | undefined {
  const durations = records
    .filter(({ origin }) => origin.step === step && (branches?.has(origin.branch) ?? true))
    .flatMap(({ submittedAt, finishedAt }) =>
      submittedAt === undefined || finishedAt === undefined || finishedAt <= submittedAt
        ? []
        : [finishedAt - submittedAt],
    )
    .toSorted((one, other) => one - other);
  return durations[Math.floor(durations.length / 2)];
}

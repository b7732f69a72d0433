import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, suggestion } from '../diagnostics/did-you-mean.ts';
import { makesWords } from '../kinds.ts';
import type { BranchAddress, PathSegment, Selector } from '../pipeline.ts';
import { globMatches } from '../selectors/glob.ts';
import { isOutputName, outputNumber } from '../selectors/output.ts';
import type { StepDraft, Steps } from './draft.ts';

const isWildcard = ({ alternatives }: Selector): boolean =>
  alternatives.some(({ kind }) => kind === 'wildcard');

/** Whether a path segment names outputs. Then all its selectors do. */
export const isOfOutputs = (segment: PathSegment): boolean =>
  segment.selectors.some(({ output }) => output !== undefined);

/** Whether something starts from outputs of a step: then their files are kept, also with `keep: false`. */
export const hasOutputsInUse = ({ name, path }: StepDraft, steps: Steps): boolean =>
  path.some(isOfOutputs) ||
  [...steps.values()].some(({ from, gather }) =>
    [from, gather].some((address) => address?.step === name && address.outputs !== undefined),
  );

/**
 * Whether templates of a step stand below an output, so that they may read its number as `frame`.
 *
 * @param level of the path at which they stand: 0 for the step's own request and the first level, which have no path above them
 */
export function seesFrame(
  { from, path }: StepDraft,
  steps: Steps,
  level: number,
  seen = new Set<BranchAddress>(),
): boolean {
  if (path.slice(0, level).some(isOfOutputs) || from?.outputs !== undefined) return true;
  const above = from && steps.get(from.step);
  // Another check reports circular steps.
  if (above === undefined || seen.has(from as BranchAddress)) return false;
  const { segments } = from as BranchAddress;
  const depth = segments.includes('**') ? above.path.length : segments.length;
  return seesFrame(above, steps, depth, seen.add(from as BranchAddress));
}

/** Whether a path segment makes this branch. A wildcard makes every branch that it matches. */
function makes(segment: PathSegment, branch: string): boolean {
  if (branch === '#*') return isOfOutputs(segment);
  if (branch === '*') return !isOfOutputs(segment);
  return segment.selectors.some(
    (selector) => selector.name === branch || (isWildcard(selector) && globMatches(selector.name, branch)),
  );
}

/** Reports an address that matches no branch of its step's own path. */
export function checkAddress(
  address: BranchAddress,
  target: StepDraft,
  collector: DiagnosticCollector,
): void {
  if (!target.pathKnown || target.kind === undefined) return;
  const { name, path } = target;
  for (const [level, branch] of address.segments.entries()) {
    const way = [name, ...address.segments.slice(0, level)].join('/');
    const segment = path[level];
    // Each job has outputs, whether or not its path names them.
    const isLast = level === address.segments.length - 1;
    if (isOutputName(branch) && isLast && !isOutputName(address.segments[level - 1] ?? '')) return;
    if (segment === undefined) {
      const reason = level === 0 ? `Step "${name}" has no path` : `The path of "${name}" ends at ${way}`;
      const message = `${reason}, so there is no ${way}/${branch}.`;
      const meant = makesWords(target.kind) ? undefined : meantOutput(address);
      return collector.error('step.unknown-branch', address.position, message, `Write ${meant ?? way}.`);
    }
    if (branch === '**' || makes(segment, branch)) continue;
    const names = segment.selectors.map((selector) => selector.name);
    if (branch === '*') {
      const message = `${way}/* means jobs, but the path of "${name}" names outputs there (${listing(names)}).`;
      return collector.error('step.unknown-branch', address.position, message, `Write ${way}/#*.`);
    }
    const message = `${way} has no branch "${branch}".`;
    const where = level === 0 ? `path of "${name}"` : `branches under ${way}`;
    collector.error('step.unknown-branch', address.position, message, () => branchHint(branch, names, where));
    return;
  }
}

/** Returns the address of the output that `grid#1`, `grid/1` and `grid/frame 1` mean; undefined for others. */
export function meantOutput({
  step,
  segments,
}: Pick<BranchAddress, 'step' | 'segments'>): string | undefined {
  const way = [step, ...segments];
  const last = way.pop() ?? '';
  const at = last.lastIndexOf('#');
  if (at > 0) way.push(last.slice(0, at));
  const number = at > 0 ? last.slice(at + 1) : last.replace(/^(?:frame|output) ?/i, '');
  return way.length === 0 || outputNumber(number) === undefined ? undefined : `${way.join('/')}/#${number}`;
}

function branchHint(branch: string, names: readonly string[], where: string): string {
  const hint = suggestion(branch, names, 'branches there');
  const listed = hint.startsWith('Did') ? `${hint} The branches there are ${listing(names)}.` : hint;
  return /^[UV][1-4]$/.test(branch)
    ? `${listed} If ${branch} is meant, add it to the ${where}: ${[...names, branch].join(', ')}.`
    : listed;
}

/** One item on the way from a cell to a job: an operation, or a button below it. */
type Mark =
  | { readonly step: string }
  | { readonly branch: string }
  /** Any branch of a level; `several` if there may be more than one. */
  | { readonly any: true; readonly several: boolean };

/** Returns the way from a cell to the jobs of a step's own operation. Steps without `from` begin at the cell. */
function wayTo(step: StepDraft, steps: Steps): readonly Mark[] {
  const way: (readonly Mark[])[] = [operationOf(step)];
  let at = step;
  while (at.from !== undefined) {
    const target = steps.get(at.from.step);
    if (target === undefined) break;
    way.unshift([...operationOf(target), ...marksOf(at.from, target)]);
    at = target;
  }
  return way.flat();
}

const operationOf = ({ name, each }: StepDraft): readonly Mark[] => [
  { step: name },
  ...(each === undefined ? [] : [{ any: true as const, several: true }]),
];

const anyBranch = (segment: PathSegment): Mark => ({
  any: true,
  several: segment.selectors.length > 1 || segment.selectors.some(isWildcard),
});

function marksOf({ segments, picks }: BranchAddress, { path }: StepDraft): readonly Mark[] {
  // A picked job may be any of those that the address names.
  if (picks !== undefined)
    return [...segments.map((): Mark => ({ any: true, several: false })), { any: true, several: picks > 1 }];
  return segments.flatMap((branch, level): Mark[] => {
    if (branch === '**') return path.slice(level).map(anyBranch);
    const segment = path[level];
    if (branch === '#*') return [{ any: true, several: true }];
    if (branch === '*') return segment === undefined ? [] : [anyBranch(segment)];
    return [{ branch }];
  });
}

const isSeveral = (mark: Mark): boolean => 'any' in mark && mark.several;

/**
 * Whether one job of `step` may have several jobs of `other` at its nearest common ancestor. The common part of both paths is walked
 * first; a later branch does not depend on the position of `step`.
 *
 * Neither step may be part of a cycle.
 */
export function couldMeanSeveral(step: StepDraft, other: StepDraft, steps: Steps): boolean {
  const own = wayTo(step, steps);
  const others = wayTo(other, steps);
  for (const [index, wanted] of others.entries()) {
    const found = own[index];
    if (found !== undefined && staysTogether(found, wanted)) continue;
    return others.slice(index).some(isSeveral);
  }
  return false;
}

function staysTogether(found: Mark, wanted: Mark): boolean {
  if ('step' in found || 'step' in wanted) {
    return 'step' in found && 'step' in wanted && found.step === wanted.step;
  }
  // Any branch of the other's level means the branch of this job.
  if ('any' in wanted) return true;
  // This step runs on any branch, the other on one: most of its jobs have another branch, unless there is only one.
  if ('any' in found) return !found.several;
  return found.branch === wanted.branch;
}

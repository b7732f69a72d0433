import type { Draft, Input, Kind } from '../input.ts';
import { Random } from '../random.ts';
import { hostileArguments } from './arguments.ts';
import { hostileGit } from './git.ts';
import { hostileName } from './name.ts';
import { hostilePath } from './path.ts';
import { hostilePipeline } from './pipeline.ts';
import { hostileSelector } from './selector.ts';
import { hostileTable } from './table.ts';
import { hostileTemplate } from './template.ts';

/** Of a thousand inputs, how many are of a kind: what starts processes and touches the disk is dear. */
const shares: Readonly<Record<Kind, readonly [share: number, draw: (random: Random) => Draft]>> = {
  pipeline: [180, hostilePipeline],
  table: [160, hostileTable],
  selector: [340, hostileSelector],
  template: [220, hostileTemplate],
  arguments: [60, hostileArguments],
  name: [28, hostileName],
  path: [10, hostilePath],
  git: [2, hostileGit],
};

/** The input with this number: always the same one for a seed, whichever others are made. */
export function inputAt(seed: number, index: number, only: Kind | undefined): Input {
  const random = new Random(seed, index);
  const kind = only ?? drawKind(random);
  const [, draw] = shares[kind];
  return { kind, chunk: 0, ...draw(random) };
}

function drawKind(random: Random): Kind {
  let left = random.next() * 1000;
  for (const [kind, [share]] of Object.entries(shares)) {
    left -= share;
    if (left < 0) return kind as Kind;
  }
  return 'pipeline';
}

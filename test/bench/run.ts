import { type Bench, median } from './comparison.ts';
import { http } from './http.ts';
import { matrix } from './matrix.ts';
import { outside } from './outside.ts';
import { plan } from './plan.ts';
import { notice, poll } from './poll.ts';
import { scheduler } from './scheduler.ts';
import { state } from './state.ts';
import { templates } from './templates.ts';

const benches: Readonly<Record<string, Bench>> = {
  state,
  plan,
  templates,
  matrix,
  scheduler,
  poll,
  notice,
  http,
  ...outside,
};
const rounds = 7;
const figure = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Medians of alternating rounds: what else the machine does meets both sides alike. The first round warms up. */
async function report(name: string, { asks, prepare }: Bench): Promise<void> {
  const { left, right, unit } = await prepare();
  const measured = { left: [] as number[], right: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const turns = round % 2 === 0 ? (['left', 'right'] as const) : (['right', 'left'] as const);
    for (const turn of turns) {
      const value = await { left, right }[turn].measure();
      if (round > 0) measured[turn].push(value);
    }
  }
  const [of, against] = [median(measured.left), median(measured.right)];
  const cells = [
    name.padEnd(10),
    `${left.name} ${figure.format(of)}`.padEnd(24),
    `${right.name} ${figure.format(against)}`.padEnd(24),
    unit.padEnd(16),
    `ratio ${figure.format(of / against)}`,
  ];
  console.log(`${cells.join('  ')}\n${''.padEnd(12)}${asks}`);
}

const [chosen] = process.argv.slice(2);
/** A bench by its name, or all whose names begin so: `outside`. */
const isChosen = (name: string): boolean =>
  chosen === undefined || name === chosen || name.startsWith(`${chosen}-`);
if (!Object.keys(benches).some(isChosen)) {
  console.error(`There is no bench "${chosen}": ${Object.keys(benches).join(', ')}.`);
  process.exitCode = 2;
} else {
  console.log(`Node.js ${process.version}; medians of ${rounds} alternating rounds`);
  for (const [name, bench] of Object.entries(benches)) if (isChosen(name)) await report(name, bench);
}

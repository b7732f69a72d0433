import { expect, it } from 'vitest';
import { diagnose } from '../diagnose.ts';

const lists = (first: number, second: number): string => `name: t
matrix: { theme: [{ scenes: [[a, b]] }] }
steps:
  c: { each: "{{ theme.scenes | concat: theme.scenes }}", max: ${first}, imagine: "{{ item }}" }
  d: { from: c, each: "{{ item | concat: item }}", max: ${second}, click: U1 }
`;

it('takes lists that follow from each other with 1000 branches, and no more', async () => {
  expect(await diagnose(lists(10, 100))).toEqual([]);
  expect(await diagnose(lists(11, 100))).toEqual(['step.each-max 5:52']);
});

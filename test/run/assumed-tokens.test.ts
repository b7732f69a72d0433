import { describe, expect, it } from 'vitest';
import { manifestHeader, rowFields } from '../../src/manifest/columns.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { TextReply } from '../../src/service/text-service.ts';
import { textReply } from '../rig/text-reply.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { type World, world } from '../rig/world.ts';

const text = `name: t
matrix: { n: { from: 1, to: 40 } }
steps: { story: { generate: { model: m, prompt: 'Tell me about {{ n }}.' } } }
`;
const uncounted: Pick<TextReply, 'candidates' | 'whole'> = (({ candidates, whole }) => ({
  candidates,
  whole,
}))(textReply({ text: 'A story.' }));
const prices = { m: { input: 1_000_000, output: 1_000_000 } };
const tokensOf = ({ store }: World): number => store.totals().assumedTokens;

describe('replies without a token count', () => {
  it('count with their estimate, so that a budget of tokens applies, in one run and over several', async () => {
    const here = await world(text, { onAsk: () => uncounted });
    const settings = virtualSettings({ budget: { tokens: 5000 }, limits: { tasks: 1, requests: 1 } });
    const { end, submits, tokens, events } = here.run({ settings });
    expect(end).toMatchObject({ kind: 'budget', code: 'budget.tokens' });
    expect(end?.kind === 'budget' && end.message).toContain('estimated: the service reported none');
    expect([submits > 0 && submits < 40, tokens]).toEqual([true, 0]);
    expect([tokensOf(here) > 0, tokensOf(here) <= 5000, here.store.totals().tokens]).toEqual([true, true, 0]);
    const said = events.filter((event) => event.type === 'run:notice' && event.code === 'tokens.untold');
    expect(said).toHaveLength(1);
    expect(here.run({ settings })).toMatchObject({ end: { code: 'budget.tokens' }, submits: 0 });
  });

  it('count with the price of that estimate, so that a budget of money applies', async () => {
    const here = await world(text, { onAsk: () => uncounted });
    const settings = virtualSettings({ budget: { cost: 5000 }, prices, limits: { tasks: 1, requests: 1 } });
    const { end, submits } = here.run({ settings });
    expect(end).toMatchObject({ kind: 'budget', code: 'budget.cost' });
    expect(submits > 0 && submits < 40).toBe(true);
    const { cost, possibleCost } = here.store.totals();
    expect([cost, possibleCost]).toEqual([0, tokensOf(here)]);
    expect(here.run({ settings })).toMatchObject({ end: { code: 'budget.cost' }, submits: 0 });
  });

  it('leave the columns of tokens and cost empty', async () => {
    const here = await world(text, { onAsk: () => uncounted });
    here.run({ settings: virtualSettings({ prices }) });
    const header = manifestHeader([]);
    const empty = header.filter((column) => column.endsWith('_tokens') || column === 'cost');
    for await (const row of manifestRows(here.plan, {}, here.store.reader)) {
      const fields = rowFields(row, []);
      expect(empty.map((column) => fields[header.indexOf(column)])).toEqual(empty.map(() => ''));
    }
  });

  it('have a price per call like any other', async () => {
    const here = await world(text, { onAsk: () => uncounted });
    here.run({ settings: virtualSettings({ prices: { m: 2 } }) });
    expect(here.store.totals()).toMatchObject({ cost: 80, possibleCost: 0 });
  });

  it('do not affect replies with a token count', async () => {
    const here = await world(text);
    const { events } = here.run();
    expect([tokensOf(here), events.some(({ type }) => type === 'run:notice')]).toEqual([0, false]);
  });
});

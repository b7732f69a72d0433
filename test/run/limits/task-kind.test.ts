import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { kindOf } from '../../../src/run/limits/task-kind.ts';
import { clickRecord, imagineRecord } from '../../rig/jobs.ts';

type Press = Extract<JobRecord['request'], { readonly kind: 'click' }>['press'];
const click = (press: Press, changes: Partial<JobRecord> = {}): string =>
  kindOf(clickRecord({ request: { kind: 'click', press, fields: {} }, ...changes })).name;
const imagine = (prompt: string): string =>
  kindOf(imagineRecord({ request: { kind: 'imagine', fields: { prompt } } })).name;

describe('the kind of a task', () => {
  it('is its first button, without its numbers', () => {
    expect(click([{ kind: 'text', text: 'U1' }])).toBe(click([{ kind: 'text', text: 'U4' }]));
    expect(click([{ kind: 'text', text: 'Upscale (2x)' }])).toBe(
      click([{ kind: 'text', text: 'Upscale (40x)' }]),
    );
    const kinds = [
      imagine('a fox'),
      click([{ kind: 'text', text: 'U1' }]),
      click([{ kind: 'text', text: 'V1' }]),
      click([{ kind: 'word', word: 'reroll' }]),
      click([{ kind: 'pattern', source: 'upsample::2::' }]),
      click([]),
    ];
    expect(new Set(kinds).size).toBe(6);
  });

  it.each([
    ['a fox --v 6.1 --ar 3:2', 'v6.1'],
    ['a fox --version 7', 'v7'],
    ['a fox --niji  6', 'niji6'],
  ])('has the model version of %s', (prompt, version) => {
    expect(imagine(prompt)).toContain(` ${version}`);
    expect(imagine(prompt)).not.toBe(imagine('a fox'));
  });

  it('has the model version in the name of its button', () => {
    const pressed = (customId: string) => ({ pressed: { customId, label: 'U1', emoji: '' } });
    const press = [{ kind: 'text', text: 'Upscale (Subtle)' }] as const;
    expect(click(press, pressed('IMG::JOB::upsample_v6r1_2x_subtle::1::a_v9_b'))).toContain('v6r1');
    expect(click(press, pressed('IMG::JOB::upsample_v5_2x::1::a'))).toContain('v5');
    expect(click(press, pressed('IMG::JOB::upsample::1::a'))).not.toMatch(/ v\d/);
  });

  it('has the speed', () => {
    const at = (speed: JobRecord['speed']) =>
      kindOf(imagineRecord(speed === undefined ? {} : { speed })).name;
    expect(at('relax')).not.toBe(at('turbo'));
    expect(at('turbo')).toContain('turbo');
  });

  it('is a different one for a click that opens a dialog and for the work after the dialog', () => {
    const press = [{ kind: 'text', text: 'Vary' }] as const;
    const asking = clickRecord({ request: { kind: 'click', press, fields: { prompt: 'p' } } });
    const modal = {} as NonNullable<JobRecord['modal']>;
    const plain = kindOf(clickRecord({ request: { kind: 'click', press, fields: {} } }));
    expect(kindOf(asking).name).not.toBe(plain.name);
    expect(kindOf(asking).broader).not.toBe(plain.broader);
    expect(kindOf({ ...asking, modal })).toEqual(plain);
  });

  it('has a name of bounded length, whatever the pipeline says', () => {
    const long = [{ kind: 'text', text: 'x'.repeat(10_000) }] as const;
    expect(click(long).length).toBeLessThan(120);
  });
});

import { describe, expect, it } from 'vitest';
import { asksModels, modelsOf, unlistedModels } from '../../../src/app/service/models.ts';
import { planOf } from '../../rig/pipeline-builder.ts';

const listed = (...ids: string[]) => ids.map((id) => ({ id, endpoints: [] }));

describe('the models of a pipeline', () => {
  it('are those written out, and those that templates name in its first cells', async () => {
    const plan = await planOf(`
      matrix:
        model: [text-pro, text-flash]
        n: { from: 1, to: 2 }
      steps:
        grid: { imagine: "a {{ n }}" }
        say: { generate: { model: "{{ model }}", prompt: "say {{ n }}" } }
        write: { chat: { model: chat-mini, prompt: hello } }
    `);
    expect(await modelsOf(plan, {})).toEqual([
      { model: 'chat-mini', step: 'write', place: 'test.yaml:8', line: 8 },
      { model: 'text-pro', step: 'say', place: 'test.yaml:7', line: 7 },
      { model: 'text-flash', step: 'say', place: 'test.yaml:7', line: 7 },
    ]);
    expect(await modelsOf(plan, { only: ['write'] })).toEqual([
      { model: 'chat-mini', step: 'write', place: 'test.yaml:8', line: 8 },
    ]);
    expect(await modelsOf(plan, { limit: 1 })).toEqual([
      { model: 'chat-mini', step: 'write', place: 'test.yaml:8', line: 8 },
      { model: 'text-pro', step: 'say', place: 'test.yaml:7', line: 7 },
    ]);
    expect([asksModels(plan, {}), asksModels(plan, { only: ['grid'] })]).toEqual([true, false]);
  });

  it('are searched in a limited part of a large matrix', async () => {
    const plan = await planOf(`
      matrix: { n: { from: 1, to: 1000000 } }
      steps: { say: { generate: { model: "m{{ n }}", prompt: x } } }
    `);
    expect(await modelsOf(plan, {})).toHaveLength(50);
  });
});

describe('a model that is not listed', () => {
  it('is reported with the similar listed one, if any', () => {
    const uses = [
      { model: 'text-por', step: 'say', place: 'test.yaml:1', line: 1 },
      { model: 'text-pro', step: 'say', place: 'test.yaml:1', line: 1 },
      { model: 'zzz', step: 'write', place: 'test.yaml:1', line: 1 },
    ];
    const warnings = unlistedModels(uses, listed('text-pro', 'chat-mini'));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('"text-por" that the step "say" asks. Did you mean "text-pro"?');
    expect(warnings[1]).toContain('promptpress models');
    expect(warnings[1]).toMatch(/^test\.yaml:1 model\.unlisted /);
  });

  it('is not reported if the list is empty', () => {
    expect(unlistedModels([{ model: 'm', step: 's', place: 'test.yaml:1', line: 1 }], [])).toEqual([]);
  });

  it('cannot affect a terminal by its name', () => {
    const [warning] = unlistedModels(
      [{ model: 'x\u001b[2J', step: 's', place: 'test.yaml:1', line: 1 }],
      listed('y'),
    );
    expect(warning).not.toContain('\u001b');
  });
});

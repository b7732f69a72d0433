import { describe, expect, test } from 'vitest';
import { TextScene } from './text-rig.ts';

describe('a conversation that is continued', () => {
  const text = `
    steps:
      grid: { imagine: a fox }
      ask: { from: grid, generate: { model: m, prompt: what?, images: [parent] } }
      why: { from: grid, generate: { model: m, prompt: why?, continue: ask } }
      how: { from: why, generate: { model: m, prompt: how?, continue: why } }
      last: { generate: { model: m, prompt: sure?, continue: how } }`;

  test('waits for the earlier job, and names it by its key', async () => {
    const scene = await TextScene.of(text);
    expect(scene.request('why')).toEqual({
      kind: 'generate',
      fields: { model: 'm', prompt: 'why?' },
      continues: scene.key('ask'),
    });
    expect(scene.request('how').continues).toBe(scene.key('why'));
    expect(scene.request('last').continues).toBe(scene.key('how'));
    expect(scene.at('last').job).not.toHaveProperty('inputs');
    expect(scene.slots().map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4]);
    scene.done('grid');
    expect(scene.at('why').ready).toBe(false);
    scene.reply('ask', 'a fox');
    expect(scene.at('why').ready).toBe(true);
    scene.reply('why', 'because');
    scene.reply('how', 'like that');
    expect(scene.lines().at(-1)).toBe('last pending!');
  });

  test('is blocked, or skipped, with it', async () => {
    const scene = await TextScene.of(text);
    scene.done('grid');
    scene.state.fail(scene.at('ask'), 'text.blocked');
    expect(scene.lines().slice(2)).toEqual(['why blocked', 'how blocked', 'last blocked']);
    expect(scene.at('last').error?.message).toBe('blocked by ask: text.blocked');
    const off = await TextScene.of(text.replace('ask: { from', 'ask: { when: repeat == 2, from'));
    off.done('grid');
    expect(off.lines().slice(1)).toEqual(['ask skipped', 'why skipped', 'how skipped', 'last skipped']);
  });

  test('that may still be skipped gives no key to the step that continues it', async () => {
    const scene = await TextScene.of(`
      steps:
        grid: { imagine: a fox, path: "U1?" }
        ask: { from: grid/U1, generate: { model: m, prompt: what? } }
        why: { generate: { model: m, prompt: why?, continue: ask } }`);
    expect(scene.at('why').job).toBeUndefined();
    scene.done('grid');
    scene.done('grid/U1');
    expect(scene.request('why').continues).toBe(scene.key('ask/U1'));
  });
});

describe('templates on replies', () => {
  const text = (template: string): string => `
    steps:
      pick: { generate: { model: m, prompt: which?, generationConfig: { responseMimeType: application/json } } }
      next: { generate: { model: m, prompt: ${JSON.stringify(template)} } }`;

  test.each([
    ['{{ steps.pick.text }}', '{"id": 12345678901234567890}', '{"id": 12345678901234567890}'],
    ['{{ steps.pick.json.id }}', '{"id": 12345678901234567890}', '12345678901234567890'],
    ['{{ steps.pick.json.list[1].x }} {{ steps.pick.json.list.size }}', '{"list": [1, {"x": 6.0}]}', '6.0 2'],
    ['{{ steps.pick.json.x }}', '{"x": 1, "x": 2}', '2'],
    ['{{ steps.pick.json.x }}', '{"__proto__": {"x": 7}, "x": 8}', '8'],
    ['{{ steps.pick.parts[0].text }}', 'true', 'true'],
    ['{{ steps.pick.usage.total }}', 'true', '15'],
  ])('%s of %s', async (template, answer, wanted) => {
    const scene = await TextScene.of(text(template));
    expect(scene.at('next')).toMatchObject({ status: 'pending', ready: false });
    expect(scene.at('next').job).toBeUndefined();
    scene.reply('pick', answer, true);
    expect(scene.at('next').prompt).toBe(wanted);
  });

  test.each([
    ['prompt: "{{ steps.pick.json.best }}"', ''],
    ['prompt: "{{ steps.pick.json.best | plus: 1 }}"', ''],
    ['prompt: x', 'when: steps.pick.json.best > 2'],
  ])('find no members in a reply that is not JSON: %s %s', async (fields, when) => {
    const scene = await TextScene.of(`
      steps:
        pick: { generate: { model: m, prompt: which?, responseSchema: { type: object, properties: { best: { type: integer } } } } }
        next:
          generate: { model: m, ${fields} }
          ${when}`);
    scene.reply('pick', 'the third', false);
    expect(scene.at('next')).toMatchObject({
      status: 'failed',
      error: { code: 'template.no-json', message: expect.stringContaining('"pick"') },
    });
  });

  test('find nothing in a missing member', async () => {
    const scene = await TextScene.of(text('{{ steps.pick.json.none }}'));
    scene.reply('pick', '{"a": 1}', true);
    expect(scene.at('next').error?.code).toBe('template.undefined');
    const deep = await TextScene.of(text('{{ steps.pick.json.none }}'));
    deep.reply('pick', `${'['.repeat(101)}${']'.repeat(101)}`, true);
    expect(deep.at('next').error?.code).toBe('template.limit');
    const deeper = await TextScene.of(text('{{ steps.pick.json.none }}'));
    deeper.reply('pick', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, true);
    expect(deeper.at('next').error?.code).toBe('template.limit');
  });

  test.each([
    [3, 'skipped'],
    [4, 'pending'],
  ])('decide a condition: the best is %i', async (best, status) => {
    const scene = await TextScene.of(`
      steps:
        pick: { generate: { model: m, prompt: which?, responseSchema: { type: object, properties: { best: { type: integer } } } } }
        grid: { imagine: a fox, when: steps.pick.json.best > 3 }`);
    scene.reply('pick', `{"best": ${best}}`, true);
    expect(scene.at('grid').status).toBe(status);
  });
});

import { describe, expect, it } from 'vitest';
import { renderTree } from '../../../../src/pipeline/templates/tree.ts';
import { type Value, WrittenNumber } from '../../../../src/pipeline/values/value.ts';
import { diagnose, parse } from '../../diagnose.ts';

const head = `name: t
matrix:
  n: [6.0, 7]
  level: [low, high]
  model: [gemini-3-pro, gemini-3-pro-preview]
  names: [[fox, owl], [lynx]]
steps:
  grid: { imagine: a fox, path: U1..U4 }
`;

/** Uses every axis, so that none is warned of. */
const all = '{{ n }} {{ level }} {{ model }} {{ names | join }}';
const files = { 'a.png': 'x', 'b.HEIC': 'x' };
const errors = (steps: string): Promise<readonly string[]> =>
  diagnose(`${head}  all: { imagine: "${all}" }\n${steps}`, files);

describe('a text step', () => {
  const text = `${head}
  ask:
    from: grid/*
    generate:
      model: "{{ model }}"
      prompt: say {{ n }}
      images: [parent, steps.grid, a.png, "{{ level }}.png", "https://a.example/fox", "data:image/png;base64,AAAA"]
      thinking: "{{ level }}"
      responseSchema: { type: OBJECT, properties: { best: { type: INTEGER }, who: { enum: "{{ names }}" } } }
      stream: true
      accept: [MAX_TOKENS, stop]
      functions: { sky.get: { parameters: { type: object }, answer: { sky: "{{ level }}" } } }
      rounds: 3
      tools: [{ functionDeclarations: [{ name: own }] }]
      generationConfig: { temperature: "{{ n }}", seed: 6.0, stopSequences: "{{ names }}" }
    extra: { labels: { level: "{{ level }}" } }
    keep: false
`;

  it('has every field, and the results of templates keep their types', async () => {
    const { pipeline, diagnostics } = await parse(text, files);
    expect(diagnostics).toEqual([]);
    const step = pipeline?.steps[1];
    expect(step).toMatchObject({ kind: 'generate', keep: false, path: [], after: ['grid'] });
    const n = new WrittenNumber('6.0', 6);
    const scope = {
      vars: { n, level: 'low', model: 'm', names: ['fox', 'owl'] },
      repeat: 1,
      steps: {},
    };
    const rendered: Readonly<Record<string, Value>> = Object.fromEntries(
      Object.entries({ ...step?.request, ...step?.extra }).map(([name, tree]) => [
        name,
        renderTree(tree, scope),
      ]),
    );
    expect(rendered).toEqual({
      model: 'm',
      prompt: 'say 6.0',
      images: [
        'parent',
        'steps.grid',
        'a.png',
        'low.png',
        'https://a.example/fox',
        'data:image/png;base64,AAAA',
      ],
      thinking: 'low',
      responseSchema: {
        type: 'OBJECT',
        properties: { best: { type: 'INTEGER' }, who: { enum: ['fox', 'owl'] } },
      },
      stream: true,
      accept: ['MAX_TOKENS', 'stop'],
      functions: { 'sky.get': { parameters: { type: 'object' }, answer: { sky: 'low' } } },
      rounds: 3,
      tools: [{ functionDeclarations: [{ name: 'own' }] }],
      generationConfig: { temperature: n, seed: new WrittenNumber('6.0', 6), stopSequences: ['fox', 'owl'] },
      labels: { level: 'low' },
    });
  });

  it('may use every member of a reply', async () => {
    const uses = [
      'ask.json.best',
      'ask.json | json',
      'ask.json.who.size',
      'ask.text',
      'ask.usage.thoughts',
      'ask.usage | json',
      'ask.parts[0].text',
      'ask.parts.size',
      'free.json.anything[0].more',
      'talk.json.x',
    ];
    const steps = `  ask: { from: grid, generate: { model: m, prompt: p, images: [parent], responseSchema: { properties: { best: {}, who: {} } } } }
  free: { from: grid, generate: { model: m, prompt: p, generationConfig: { responseMimeType: "{{ level }}" } } }
  talk: { chat: { model: m, prompt: p, response_format: { type: json_object } } }
  last: { imagine: "${uses.map((use) => `{{ steps.${use} }}`).join(' ')}", from: grid, when: steps.ask.json.best > 1 }
  tree: { generate: { model: m, contents: [{ parts: [{ json: "{{ steps.talk.json }}" }] }] } }
`;
    expect(await errors(steps)).toEqual([]);
  });

  it('may show and gather steps that make images, and continue the one job of a generate step', async () => {
    const steps = `  draw: { from: grid/*, generate: { model: m, prompt: p, images: [parent], generationConfig: { responseModalities: [text, image] } } }
  made: { generate: { model: m, prompt: p, generationConfig: { responseModalities: "{{ names }}" } } }
  next: { from: draw, generate: { model: m, prompt: p, continue: draw, images: [parent, steps.made, b.HEIC] } }
  judge: { gather: draw, chat: { model: m, prompt: p } }
  both: { gather: grid/*, generate: { model: m, prompt: p, images: [steps.grid] } }
`;
    expect(await errors(steps)).toEqual([]);
  });

  it('continues one job, not several', async () => {
    const steps = `  ask: { from: grid/*, generate: { model: m, prompt: p, images: [parent] } }
  next: { from: grid, generate: { model: m, prompt: p, continue: ask } }
  loop: { generate: { model: m, prompt: p, continue: loop } }
  none: { generate: { model: m, prompt: p, continue: asj } }
`;
    expect(await errors(steps)).toEqual(['step.several 11:66', 'step.cycle 12:54', 'step.unknown 13:54']);
  });

  it('is checked against its model for each value of an axis', async () => {
    const steps = `  a: { generate: { model: "{{ model }}", prompt: p, thinking: low } }
  b: { generate: { model: gemini-2.5-pro, prompt: p, thinking: "{{ level }}" } }
  c: { generate: { model: gemini-2.5-pro, prompt: p, generationConfig: { thinkingConfig: { thinkingBudget: "{{ n }}" } } } }
  d: { generate: { model: gemini-2.5-pro, prompt: p, generationConfig: { thinkingConfig: { includeThoughts: true } } } }
  e: { generate: { model: gemini-2.5-flash, prompt: p, thinking: 0 } }
  f: { generate: { model: gemini-3-flash, prompt: p, generationConfig: { thinkingConfig: { thinkingLevel: MINIMAL } } } }
  g: { generate: { model: gemini-2.5-pro, prompt: p, thinking: -1 } }
`;
    expect(await errors(steps)).toEqual([
      'thinking.generation 11:64',
      'thinking.range 12:108',
      'thinking.range 12:108',
    ]);
  });

  it('causes only a warning for an unknown model, with a suggestion', async () => {
    const step = 'steps: { a: { generate: { model: text-pro, prompt: p, thinking: 100 } } }\n';
    const { pipeline, diagnostics } = await parse(`name: t\n${step}`);
    expect(pipeline).toBeDefined();
    expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'thinking.unknown-model' }]);
    expect(diagnostics[0]?.hint).toContain('models: { text-pro: { thinking: budget } }');
    expect(await diagnose(`name: t\nmodels: { text-pro: { thinking: budget } }\n${step}`)).toEqual([]);
    const both = await parse(`name: t\nsteps: { a: { generate: { model: m, prompt: p, rounds: 2 } } }\n`);
    expect(both.diagnostics).toMatchObject([{ severity: 'warning', code: 'step.rounds' }]);
  });
});

describe('thinking from templates', () => {
  const over = (matrix: string, model: string, thinking: string, more = ''): Promise<readonly string[]> =>
    diagnose(
      `name: t\nmatrix: ${matrix}\nsteps:\n  a: { generate: { model: "${model}", prompt: p, thinking: "${thinking}" }${more} }\n`,
    );
  const both = 'm: [gemini-2.5-pro, gemini-3-pro], t: [low, 1024]';

  it('is accepted if each wrong combination is excluded or skipped', async () => {
    const paired = '{ m: [{ id: gemini-2.5-pro, t: 128 }, { id: gemini-3-pro, t: high }] }';
    expect(await over(paired, '{{ m.id }}', '{{ m.t }}')).toEqual([]);
    const excludes = 'exclude: [{ m: gemini-2.5-pro, t: low }, { m: gemini-3-pro, t: 1024 }]';
    expect(await over(`{ ${both}, ${excludes} }`, '{{ m }}', '{{ t }}')).toEqual([]);
    const when = `, when: 'm == "gemini-3-pro" and t == "low"'`;
    expect(await over(`{ ${both} }`, '{{ m }}', '{{ t }}', when)).toEqual([]);
  });

  it('is reported once with every model that does not accept it', async () => {
    expect(await over(`{ ${both}, n: [1, 2] }`, '{{ m }}', '{{ t }}', ", when: 'n == 1'")).toEqual([
      expect.stringContaining('thinking.generation'),
      expect.stringContaining('thinking.generation'),
    ]);
  });

  it('is not checked for a sampled matrix, or if one part is in an include', async () => {
    expect(await over(`{ ${both}, sample: { count: 1 } }`, '{{ m }}', '{{ t }}')).toEqual([]);
    const halves = '{ m: [gemini-2.5-pro, gemini-3-pro], include: [{ m: gemini-3-pro, t: low }] }';
    expect(await over(halves, '{{ m }}', '{{ t }}')).toEqual([]);
  });
});

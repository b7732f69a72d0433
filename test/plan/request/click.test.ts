import { describe, expect, test } from 'vitest';
import type { TemplateScope } from '../../../src/pipeline/templates/template.ts';
import { compileTree } from '../../../src/pipeline/templates/tree.ts';
import type { Value } from '../../../src/pipeline/values/value.ts';
import { textPress } from '../../../src/plan/request/click.ts';
import { MaskTemplate } from '../../../src/plan/request/mask.ts';
import { filesOf, Scene } from '../scene.ts';

const files = filesOf({ 'm.png': 'white' });
const scopeOf = (vars: Readonly<Record<string, Value>>): TemplateScope => ({ vars, repeat: 1, steps: {} });

describe('a button', () => {
  test('is the same for any composition of its letters, and with blanks around it', () => {
    expect(textPress('  Varie\u0301 (Forte)\n')).toEqual({ kind: 'text', text: 'Vari\u00E9 (Forte)' });
    expect(textPress('U1')).toEqual({ kind: 'text', text: 'U1' });
  });

  test('that a template names in another spelling is the same job', async () => {
    const scene = await Scene.of(`
      matrix: { name: ["Varie\\u0301"] }
      steps:
        g: { imagine: a }
        one: { from: g, click: " {{ name }} " }
        two: { from: g, click: "Vari\\u00E9" }`);
    scene.done('g');
    const keys = scene
      .slots()
      .flatMap(({ step, job }) => (step === 'g' || job === undefined ? [] : [job.key]));
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('is the same job with an empty `extra` and without one', async () => {
    const keyOf = async (extra: string): Promise<string> => {
      const scene = await Scene.of(`{ steps: { g: { imagine: a }, up: { from: g, click: U1${extra} } } }`);
      scene.done('g');
      return scene.slots()[1]?.job?.key ?? '';
    };
    expect(await keyOf(', extra: {}')).toBe(await keyOf(''));
    expect(await keyOf(', extra: { a: 1 }')).not.toBe(await keyOf(''));
  });

  test.each(['--zoom 2', '—zoom 2', '--v 6 --zoom 1.5'])(
    'of a Custom Zoom may have only %s as its prompt',
    async (words) => {
      const scene = await Scene.of(`
      matrix: { words: ["${words}"] }
      steps:
        g: { imagine: a, path: U1 }
        zoom: { from: g/U1, click: Custom Zoom, prompt: "{{ words }}" }`);
      scene.done('g', 'g/U1');
      expect(scene.at('zoom/U1/Custom Zoom')).toMatchObject({ status: 'pending', ready: true });
    },
  );

  test('of a cell is requested with the values of that cell', async () => {
    const promptAt = async (index: number) => {
      const scene = await Scene.of(
        `
        matrix: { n: [1, 2] }
        steps:
          g: { imagine: a, path: U1 }
          again: { from: g/U1, click: Vary (Strong), remix: true, prompt: "again {{ n }}", extra: { n: "{{ n }}" } }`,
        files,
        index,
      );
      scene.done('g', 'g/U1');
      const request = scene.request('again/U1/Vary (Strong)');
      return [request?.fields.prompt, request?.extra];
    };
    expect(await promptAt(0)).toEqual(['again 1', { n: 1 }]);
    expect(await promptAt(1)).toEqual(['again 2', { n: 2 }]);
  });
});

describe('a mask', () => {
  const mask = (tree: Value, vars: Readonly<Record<string, Value>> = {}) => {
    const compiled = compileTree(tree, () => () => ({ line: 1, column: 1, length: 1 }));
    if (!compiled.ok) throw new Error('The template is wrong.');
    return new MaskTemplate(compiled.value).render(scopeOf(vars), files);
  };

  test('is a file by its content, without blanks around its name', () => {
    const white = { mask: { sha256: 'sha of white' }, files: { 'sha of white': 'm.png' } };
    expect(mask('m.png')).toEqual(white);
    expect(mask(' {{ x }} ', { x: ' m.png\n' })).toEqual(white);
    expect(mask({ file: 'm.png', invert: false })).toEqual(white);
    expect(mask({ file: 'm.png', invert: true })).toEqual({
      ...white,
      mask: { sha256: 'sha of white', invert: true },
    });
  });

  test.each(['https://x.test/m.png', 'DATA:image/png;base64,x'])('cannot be an address: %s', (name) => {
    expect(mask('{{ x }}', { x: name })).toMatchObject({ error: { code: 'mask.address' } });
  });

  test('is missing without its file', () => {
    expect(mask('gone.png')).toMatchObject({ error: { code: 'input.missing' } });
  });

  test('has the numbers of its boxes, inverted or not', () => {
    const shapes = [{ rectangle: ['{{ x }}', 0.25, 0.5, 0.5] }, { ellipse: [0, 0, 1, 1] }];
    expect(mask({ shapes }, { x: '0.5' })).toEqual({
      mask: { shapes: [{ rectangle: [0.5, 0.25, 0.5, 0.5] }, { ellipse: [0, 0, 1, 1] }] },
      files: {},
    });
    expect(mask({ shapes, invert: true }, { x: 0.25 })).toMatchObject({
      mask: { invert: true, shapes: [{ rectangle: [0.25, 0.25, 0.5, 0.5] }, {}] },
    });
  });

  test.each([0.51, -0.1, 'wide', null])('has no box that begins at %j and is half as wide', (x) => {
    expect(() => mask({ shapes: [{ rectangle: ['{{ x }}', 0, 0.5, 1] }] }, { x })).toThrow(
      /^For this cell the mask has a rectangle that /,
    );
  });
});

import { scopeOf, template } from '../pipeline/liquid-rig.ts';
import { type Bench, microsecondsEach } from './comparison.ts';

const count = 50_000;
const medium = { name: 'oil on canvas', stylize: 250 };
const compiled = template(
  '{{ animal }} at the edge of a winter forest, {{ medium.name }} --stylize {{ medium.stylize }} --v 6.1',
);

const rendered = (render: (animal: string) => string): Promise<number> =>
  microsecondsEach(count, () => {
    let length = 0;
    for (let n = 0; n < count; n++) length += render(`fox ${n}`).length;
    if (length < count * 60) throw new Error('The prompts are too short.');
  });

export const templates: Bench = {
  asks: 'what a template costs over the least that could be done; against a task of a minute, nothing',
  prepare: () => ({
    unit: 'µs per prompt',
    left: {
      name: 'template',
      measure: () => rendered((animal) => compiled.render(scopeOf({ animal, medium }))),
    },
    right: {
      name: 'concatenation',
      measure: () =>
        rendered(
          (animal) =>
            `${animal} at the edge of a winter forest, ${medium.name} --stylize ${medium.stylize} --v 6.1`,
        ),
    },
  }),
};

import { expect, it } from 'vitest';
import { withoutParameters } from '../../../src/report/exports/samples.ts';

it.each([
  ['a fox --ar 3:2 --v 6.1', 'a fox'],
  ['a fox —ar 3:2', 'a fox'],
  ['a fox –ar 3:2', 'a fox'],
  ['a fox - -ar 3:2', 'a fox'],
  ['/imagine prompt: a fox, ink', 'a fox, ink'],
  ['/imagine a fox', 'a fox'],
  ['https://img.example/a.png https://img.example/b.png a fox', 'a fox'],
  ['<https://img.example/a.png> a fox —v 7', 'a fox'],
  ['/imagine prompt:https://img.example/a.png a fox --iw 2', 'a fox'],
  ['a fox, <lora:ink:0.8>', 'a fox'],
  ['a fox, <lora:ink:0.8>, in snow', 'a fox, in snow'],
  ['a fox — asleep', 'a fox — asleep'],
  ['a well-known fox, 3 - 4 cubs', 'a well-known fox, 3 - 4 cubs'],
  ['a fox\nin snow', 'a fox\nin snow'],
  ['--ar 3:2', ''],
])('a caption of %j is %j', (prompt, caption) => {
  expect(withoutParameters(prompt)).toBe(caption);
});

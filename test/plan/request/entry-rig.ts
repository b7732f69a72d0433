import { filesOf, Scene } from '../scene.ts';

export const files = filesOf({
  'a.png': 'a',
  'b.png': 'b',
  'c.png': 'c',
  'copy.png': 'a',
  'mask.png': 'mask',
});

export const step = (body: string): Promise<Scene> => Scene.of(`\n      steps:\n        it: ${body}`, files);

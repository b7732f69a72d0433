import type { Style } from '../scene/theme.ts';
import { inkPainter } from './ink.ts';
import { neonPainter } from './neon.ts';
import { oilPainter } from './oil.ts';
import { papercutPainter } from './papercut.ts';
import { pencilPainter } from './pencil.ts';
import { pixelPainter } from './pixel.ts';
import type { Painter } from './style.ts';
import { plainSvg } from './svg.ts';
import { watercolourPainter } from './watercolour.ts';
import { woodcutPainter } from './woodcut.ts';

/** Clean shapes with soft gradients: what a prompt without a medium gets. */
const illustrationPainter: Painter = { toneRows: 0, paint: ({ scene, name }) => plainSvg(scene, name) };

const painters: Readonly<Record<Style, Painter>> = {
  illustration: illustrationPainter,
  ink: inkPainter,
  oil: oilPainter,
  watercolour: watercolourPainter,
  pixel: pixelPainter,
  neon: neonPainter,
  woodcut: woodcutPainter,
  pencil: pencilPainter,
  papercut: papercutPainter,
};

/** The painter of a style. */
export function painterOf(style: Style | undefined): Painter {
  return painters[style ?? 'illustration'];
}

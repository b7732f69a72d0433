import type { Style } from '../canvas/theme.ts';
import { inkPainter } from './painters/ink.ts';
import { neonPainter } from './painters/neon.ts';
import { oilPainter } from './painters/oil.ts';
import { papercutPainter } from './painters/papercut.ts';
import { pencilPainter } from './painters/pencil.ts';
import { pixelPainter } from './painters/pixel.ts';
import { watercolourPainter } from './painters/watercolour.ts';
import { woodcutPainter } from './painters/woodcut.ts';
import type { Painter } from './style.ts';
import { plainSvg } from './svg.ts';

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

import { type Colour, darker, lighter, mix } from './colour.ts';
import type { Tint } from './drawing.ts';
import type { Random } from './random.ts';

/** The colours of a scene in one light. */
export interface Palette {
  /** The sky from its top to the horizon. */
  readonly sky: readonly [Colour, Colour, Colour];
  /** The sun or the moon. */
  readonly light: Colour;
  /** The land from the farthest to the nearest. */
  readonly land: readonly [Colour, Colour, Colour, Colour];
  readonly accent: Colour;
  /** The colour of the subject, if the prompt names one: a blue fox. */
  readonly subject?: Colour;
  readonly night: boolean;
}

/** Makes a palette. `colours`: three of the sky, the light, four of the land, the accent. */
const palette = (colours: string, night = false): Palette => {
  const [s0 = '', s1 = '', s2 = '', light = '', l0 = '', l1 = '', l2 = '', l3 = '', accent = ''] =
    colours.split(' ');
  return { sky: [s0, s1, s2], light, land: [l0, l1, l2, l3], accent, night };
};

const palettes = {
  day: [
    palette('#3f8fc4 #8cc4dc #e6f1e4 #fff6d6 #8fb3b8 #5f9390 #3d7464 #28523f #e4572e'),
    palette('#5aa9c9 #a8d8dc #fbf3d9 #fff3c4 #a3c1ad #76a182 #4c7a58 #2f5540 #f2a541'),
    palette('#2f6f9f #77b0c9 #f3e3c8 #ffeccb #92a7b5 #66889a #3f6b6b #26483f #d9483b'),
  ],
  dawn: [
    palette('#45547f #c98a9e #ffd9b0 #fff0cc #a98ba0 #7a6d8c #4d5374 #2b3450 #f0785a'),
    palette('#6c7fb0 #e6a6a0 #ffe7bf #fff6df #b99fa8 #86859a #56667c #30425a #e8645a'),
  ],
  dusk: [
    palette('#231f4a #8b3f6e #ff9d5c #ffd27a #8a4a6c #5c3660 #3a2750 #1e1737 #ff6b4a'),
    palette('#17324d #6d5a86 #f7a072 #ffdb9a #7d5f7f #4f4a6d #2f3557 #171f3a #f05d4e'),
    palette('#2b1b3d #a23b5c #ffb36b #ffe0a0 #94476a #62305a #3c2148 #201530 #ff8552'),
  ],
  night: [
    palette('#070d24 #14264a #37527a #f6f1d8 #2c4468 #1d3152 #13223d #0a1428 #e8a34c', true),
    palette('#0a0b23 #1f2350 #4b4a80 #fdf3cf #383d6b #272b52 #191d3c #0d1026 #ef8354', true),
    palette('#04151f #0f3442 #2f6b71 #eef7e4 #275560 #1a3f4b #102c38 #081a24 #f2c14e', true),
  ],
  snow: [
    palette('#8fb3cf #c9dbe6 #f6f0ea #fffaf0 #b4c6d4 #c9d8e2 #e1eaf0 #f7f9fb #d1495b'),
    palette('#6f8fb5 #b6c7dc #fbe3d6 #fff2df #a3b3ca #bccadb #dbe4ee #f4f6fa #c8553d'),
  ],
  mist: [
    palette('#93a8ae #bccacb #e6e6dc #fbf7ea #b3c1c1 #8ea2a3 #647d80 #3d565b #c96f4a'),
    palette('#8a8fa6 #bdbdca #ece3dc #fff4e4 #b7b6c4 #908fa5 #656881 #40445d #d0674f'),
  ],
  autumn: [
    palette('#6fa3b5 #c5d3c3 #fbe6bd #fff0c0 #b79a77 #bf7b3f #94532b #58331f #d8402a'),
    palette('#7f8fa0 #d4bfa8 #ffdfa6 #fff3cf #a88a80 #b3653f #7f3f2c #47251f #f2952d'),
  ],
  spring: [
    palette('#7cc0d8 #bfe3dc #fdf1dc #fffbe0 #b8d6b4 #8fc08a #63a06a #3f7a52 #f27a9b'),
    palette('#94b8e0 #d5dcee #fff0e6 #fff8e6 #c2d3b9 #9cc28b #70a467 #467c4d #e85d8a'),
  ],
  storm: [
    palette('#26303c #4f5f6b #9aa59f #e9ead8 #6f7d80 #4d5d64 #323f48 #1c262e #e0b04a'),
    palette('#1f2a38 #46586a #b0a890 #f3e6c0 #6c7681 #495966 #2e3c49 #192430 #d9843b'),
  ],
  desert: [
    palette('#4f8fb0 #b9cfc4 #ffe3b3 #fff1cc #d8a27a #cf8552 #a95f3a #6f3b2b #2f8f8b'),
    palette('#3b4f86 #c9829a #ffc98f #ffe9b8 #c98b7c #b5645a #834350 #4b2a3f #f6a13c'),
  ],
};

/** The times and weathers with colours of their own. */
export type Mood = keyof typeof palettes;

/** Picks one of the palettes of a mood. */
export const paletteOf = (mood: Mood, random: Random): Palette => random.pick(palettes[mood]);

const into = (colour: Colour, own: Colour): Colour => mix(colour, own, 0.62);

/** Tints a palette with the colours of images. */
export function tinted(palette: Palette, tint: Tint): Palette {
  const { sky, land } = palette;
  return {
    ...palette,
    sky: [
      into(sky[0], darker(tint.sky, 0.25)),
      into(sky[1], tint.sky),
      into(sky[2], lighter(tint.sky, 0.35)),
    ],
    land: [
      into(land[0], lighter(tint.land, 0.3)),
      into(land[1], lighter(tint.land, 0.1)),
      into(land[2], darker(tint.land, 0.15)),
      into(land[3], darker(tint.land, 0.4)),
    ],
    accent: tint.accent,
  };
}

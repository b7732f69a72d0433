import { type Colour, darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import type { Random } from '../canvas/random.ts';
import type { Animal } from '../canvas/theme.ts';

/** The colours and marks of an animal. */
export interface Coat {
  readonly build: 'canine' | 'feline' | 'bear' | 'hare' | 'deer' | 'owl' | 'bird';
  readonly main: Colour;
  readonly pale: Colour;
  readonly dark: Colour;
  readonly ear: Colour;
  readonly nose: Colour;
  readonly eye: Colour;
  readonly stripes: boolean;
  readonly tufts: boolean;
  readonly roundEars: boolean;
  readonly mane?: Colour;
  readonly antler?: Colour;
  /** A bushy tail with a pale tip, a long thin one, a short one. */
  readonly tail: 'bushy' | 'long' | 'short';
}

type Marks = Partial<Pick<Coat, 'stripes' | 'tufts' | 'roundEars' | 'mane' | 'antler'>>;

/** Makes a coat. `colours`: body, pale parts, dark parts, ears, nose and eyes. */
function coat(build: Coat['build'], tail: Coat['tail'], colours: string, marks: Marks = {}): Coat {
  const [main = '', pale = '', dark = '', ear = '', nose = '', eye = ''] = colours.split(' ');
  const plain = { stripes: false, tufts: false, roundEars: false };
  return { build, tail, main, pale, dark, ear, nose, eye, ...plain, ...marks };
}

const striped = { stripes: true };
const tufted = { stripes: true, tufts: true };
const round = { roundEars: true };

const coats: Readonly<Record<Animal, readonly Coat[]>> = {
  fox: [
    coat('canine', 'bushy', '#d9622b #fbf1e3 #33211f #5b2f27 #231a1c #e0a22e'),
    coat('canine', 'bushy', '#c94f24 #fdebd6 #2b1b1d #4a2420 #1f1618 #d9b13b'),
    coat('canine', 'bushy', '#e27a35 #fff5e6 #3a2522 #6b382a #261b1d #c98a24'),
  ],
  wolf: [
    coat('canine', 'bushy', '#7d838c #eceae4 #2a2c33 #4c4a50 #1d1d22 #e3b23c'),
    coat('canine', 'bushy', '#8a7a68 #f0e6d6 #2e2723 #5b463a #211b1a #8fc1d4'),
  ],
  cat: [
    coat('feline', 'long', '#6f6a70 #efe9e4 #2a272d #c9938f #c4716c #9cc653', striped),
    coat('feline', 'long', '#d98a45 #fff1dd #8a4620 #e3a18c #cf7b6c #73b06a', striped),
    coat('feline', 'long', '#2e2b36 #57525f #131118 #5c434d #6b4a52 #e8c33c'),
  ],
  lynx: [
    coat('feline', 'short', '#b88f63 #f6ead8 #2f2620 #7a5a44 #b56b5c #d6a93a', tufted),
    coat('feline', 'short', '#a39483 #f3eee6 #2b2724 #6b5a50 #a8645a #c9b24a', tufted),
  ],
  tiger: [
    coat('feline', 'long', '#e08a2e #fff3e0 #1e1716 #f2d8bd #c4675e #d9b93a', { ...striped, ...round }),
  ],
  lion: [
    coat('feline', 'long', '#d9a55a #f8e8cb #3b271a #a8703f #8a5347 #c98f2b', { ...round, mane: '#8a4b22' }),
  ],
  bear: [coat('bear', 'short', '#7a5238 #d2ad86 #2a1c16 #4f3425 #1f1716 #5a3a22')],
  hare: [coat('hare', 'short', '#b3906b #f4e8d8 #33271f #dba798 #a86a61 #9a5f26')],
  deer: [coat('deer', 'short', '#b0713f #f3e1c8 #33221a #d9a68a #241a19 #4c3020', { antler: '#6b4a33' })],
  owl: [
    coat('owl', 'short', '#8a6242 #f3e3c9 #33231c #5c3d2b #d9a441 #f2a32c'),
    coat('owl', 'short', '#78808c #f4f1ea #2a2c36 #4d525e #c9a24f #f0c23a'),
    coat('owl', 'short', '#b07b48 #fbeed8 #3f2a1d #7a4f2f #e0b05a #e8842c'),
  ],
  bird: [coat('bird', 'short', '#2f3a4a #dfe5e8 #12161d #2f3a4a #d98f3a #f0c23a')],
};

/** Returns an animal's coat in the light of a scene, dyed if the prompt gives the animal a colour. */
export function coatOf(animal: Animal, palette: Palette, random: Random): Coat {
  const plain = random.pick(coats[animal]);
  const coat = palette.subject === undefined ? plain : dyed(plain, palette.subject);
  const [tint, share] = palette.night ? [palette.sky[1], 0.3] : [palette.sky[2], 0.1];
  const lit = (colour: Colour): Colour => mix(colour, tint, share);
  return {
    ...coat,
    main: lit(coat.main),
    pale: lit(coat.pale),
    dark: lit(coat.dark),
    ear: lit(coat.ear),
    ...(coat.mane === undefined ? {} : { mane: lit(coat.mane) }),
  };
}

/** Dyes a coat. Its parts stay as much lighter or darker than the body as they were. */
function dyed(coat: Coat, colour: Colour): Coat {
  // Marks and folds must be visible on black too.
  const main = mix(lighter(colour, 0.06), coat.main, 0.08);
  return {
    ...coat,
    main,
    pale: mix(lighter(main, 0.72), coat.pale, 0.2),
    dark: mix(darker(main, 0.72), coat.dark, 0.3),
    ear: mix(darker(main, 0.4), coat.ear, 0.3),
    ...(coat.mane === undefined ? {} : { mane: darker(main, 0.38) }),
  };
}

import { type Colour, darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import type { Random } from '../canvas/random.ts';
import type { Animal } from '../canvas/theme.ts';

/** An animal's colours and marks. */
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

const plain = { stripes: false, tufts: false, roundEars: false, tail: 'bushy' as const };

const coats: Readonly<Record<Animal, readonly Coat[]>> = {
  fox: [
    {
      ...plain,
      build: 'canine',
      main: '#d9622b',
      pale: '#fbf1e3',
      dark: '#33211f',
      ear: '#5b2f27',
      nose: '#231a1c',
      eye: '#e0a22e',
    },
    {
      ...plain,
      build: 'canine',
      main: '#c94f24',
      pale: '#fdebd6',
      dark: '#2b1b1d',
      ear: '#4a2420',
      nose: '#1f1618',
      eye: '#d9b13b',
    },
    {
      ...plain,
      build: 'canine',
      main: '#e27a35',
      pale: '#fff5e6',
      dark: '#3a2522',
      ear: '#6b382a',
      nose: '#261b1d',
      eye: '#c98a24',
    },
  ],
  wolf: [
    {
      ...plain,
      build: 'canine',
      main: '#7d838c',
      pale: '#eceae4',
      dark: '#2a2c33',
      ear: '#4c4a50',
      nose: '#1d1d22',
      eye: '#e3b23c',
    },
    {
      ...plain,
      build: 'canine',
      main: '#8a7a68',
      pale: '#f0e6d6',
      dark: '#2e2723',
      ear: '#5b463a',
      nose: '#211b1a',
      eye: '#8fc1d4',
    },
  ],
  cat: [
    {
      ...plain,
      build: 'feline',
      main: '#6f6a70',
      pale: '#efe9e4',
      dark: '#2a272d',
      ear: '#c9938f',
      nose: '#c4716c',
      eye: '#9cc653',
      stripes: true,
      tail: 'long',
    },
    {
      ...plain,
      build: 'feline',
      main: '#d98a45',
      pale: '#fff1dd',
      dark: '#8a4620',
      ear: '#e3a18c',
      nose: '#cf7b6c',
      eye: '#73b06a',
      stripes: true,
      tail: 'long',
    },
    {
      ...plain,
      build: 'feline',
      main: '#2e2b36',
      pale: '#57525f',
      dark: '#131118',
      ear: '#5c434d',
      nose: '#6b4a52',
      eye: '#e8c33c',
      tail: 'long',
    },
  ],
  lynx: [
    {
      ...plain,
      build: 'feline',
      main: '#b88f63',
      pale: '#f6ead8',
      dark: '#2f2620',
      ear: '#7a5a44',
      nose: '#b56b5c',
      eye: '#d6a93a',
      stripes: true,
      tufts: true,
      tail: 'short',
    },
    {
      ...plain,
      build: 'feline',
      main: '#a39483',
      pale: '#f3eee6',
      dark: '#2b2724',
      ear: '#6b5a50',
      nose: '#a8645a',
      eye: '#c9b24a',
      stripes: true,
      tufts: true,
      tail: 'short',
    },
  ],
  tiger: [
    {
      ...plain,
      build: 'feline',
      main: '#e08a2e',
      pale: '#fff3e0',
      dark: '#1e1716',
      ear: '#f2d8bd',
      nose: '#c4675e',
      eye: '#d9b93a',
      stripes: true,
      roundEars: true,
      tail: 'long',
    },
  ],
  lion: [
    {
      ...plain,
      build: 'feline',
      main: '#d9a55a',
      pale: '#f8e8cb',
      dark: '#3b271a',
      ear: '#a8703f',
      nose: '#8a5347',
      eye: '#c98f2b',
      roundEars: true,
      mane: '#8a4b22',
      tail: 'long',
    },
  ],
  bear: [
    {
      ...plain,
      build: 'bear',
      main: '#7a5238',
      pale: '#d2ad86',
      dark: '#2a1c16',
      ear: '#4f3425',
      nose: '#1f1716',
      eye: '#5a3a22',
      tail: 'short',
    },
  ],
  hare: [
    {
      ...plain,
      build: 'hare',
      main: '#b3906b',
      pale: '#f4e8d8',
      dark: '#33271f',
      ear: '#dba798',
      nose: '#a86a61',
      eye: '#9a5f26',
      tail: 'short',
    },
  ],
  deer: [
    {
      ...plain,
      build: 'deer',
      main: '#b0713f',
      pale: '#f3e1c8',
      dark: '#33221a',
      ear: '#d9a68a',
      nose: '#241a19',
      eye: '#4c3020',
      antler: '#6b4a33',
      tail: 'short',
    },
  ],
  owl: [
    {
      ...plain,
      build: 'owl',
      main: '#8a6242',
      pale: '#f3e3c9',
      dark: '#33231c',
      ear: '#5c3d2b',
      nose: '#d9a441',
      eye: '#f2a32c',
      tail: 'short',
    },
    {
      ...plain,
      build: 'owl',
      main: '#78808c',
      pale: '#f4f1ea',
      dark: '#2a2c36',
      ear: '#4d525e',
      nose: '#c9a24f',
      eye: '#f0c23a',
      tail: 'short',
    },
    {
      ...plain,
      build: 'owl',
      main: '#b07b48',
      pale: '#fbeed8',
      dark: '#3f2a1d',
      ear: '#7a4f2f',
      nose: '#e0b05a',
      eye: '#e8842c',
      tail: 'short',
    },
  ],
  bird: [
    {
      ...plain,
      build: 'bird',
      main: '#2f3a4a',
      pale: '#dfe5e8',
      dark: '#12161d',
      ear: '#2f3a4a',
      nose: '#d98f3a',
      eye: '#f0c23a',
      tail: 'short',
    },
  ],
};

/** An animal's coat in the light of a scene, in the subject's own colour where it has one: everything takes a little of its colour. */
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

/** A coat of another colour with the marks of its own: each part is as much lighter or darker than before. */
function dyed(coat: Coat, colour: Colour): Coat {
  // So that marks and folds can be seen on black too.
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

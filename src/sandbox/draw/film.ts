import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Frame } from './canvas/drawing.ts';
import { Random } from './canvas/random.ts';
import { rasterOf } from './picture.ts';
import type { ImageOf } from './plate.ts';

/** The description of a video. Equal films give equal files. */
export interface Film {
  /** The first picture. */
  readonly frame: Frame;
  /** The last picture, if the film ends with another one. */
  readonly end?: Frame;
  /** The camera movements: of the first clip, and of each extension. */
  readonly shots: readonly Shot[];
  /** Whether the film ends where it began and plays for ever. */
  readonly loop: boolean;
  /** Rows of pixels, if images have a side of 1024 pixels. */
  readonly lines: 480 | 720;
}

/** The camera movement of one clip. */
export interface Shot {
  readonly motion: 'low' | 'high';
  readonly seed: string;
}

/** Number of frames of a clip, and the duration of each in ms: two seconds in all. */
const framesPerShot = 24;
const frameTime = 83;

/** Quality of the WebP encoder. With a lower one, areas that change little show blocks. */
const filmQuality = 93;

/** Size of the world that the camera can see, in frames each way. */
const room = 1.5;

/** Largest zoom into an image, which has no surroundings. */
const closest = 1.5;

/** The place of the camera: its height (`zoom`) and its centre, as shares of the frame's height. */
interface Shown {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Draws a film as animated WebP, which browsers play and `sharp` can write. `pixels`: as for a picture. */
export async function drawFilm(film: Film, pixels: number, imageOf: ImageOf): Promise<Buffer> {
  const { frame } = film;
  const { width, height } = filmSize(film, pixels);
  // A drawn world continues beyond its frame; an image ends there.
  const wide = frame.plate === undefined ? room : 1;
  const [acrossStill, downStill] = [Math.round(width * wide * 1.25), Math.round(height * wide * 1.25)];
  const view = { ...frame.view, zoom: frame.view.zoom * wide };
  const still = await stillOf({ ...frame, view }, acrossStill, downStill, imageOf);
  const end = film.end === undefined ? undefined : await stillOf(film.end, width, height, imageOf);
  const path = cameraPath(film);
  const pages: Buffer[] = [];
  for (const [index, shown] of path.entries()) {
    // The visible share of the still, and its place.
    const share = Math.min(1, shown.zoom / wide);
    const [w, h] = [Math.max(1, Math.round(acrossStill * share)), Math.max(1, Math.round(downStill * share))];
    const left = clamp(Math.round(acrossStill * (0.5 + shown.x / wide) - w / 2), 0, acrossStill - w);
    const top = clamp(Math.round(downStill * (0.5 + shown.y / wide) - h / 2), 0, downStill - h);
    const page = await sharp(still, { raw: { width: acrossStill, height: downStill, channels: 3 } })
      .extract({ left, top, width: w, height: h })
      .resize(width, height, { fit: 'fill', kernel: 'mitchell' })
      .composite([{ input: motesAt(film, index, width, height) }])
      .removeAlpha()
      .raw()
      .toBuffer();
    if (end !== undefined) mixInto(page, end, smooth((index / (path.length - 1) - 0.45) / 0.55));
    pages.push(page);
  }
  return sharp(Buffer.concat(pages), {
    raw: { width, height: height * pages.length, channels: 3, pageHeight: height },
  })
    .webp({ quality: filmQuality, effort: 1, loop: film.loop ? 0 : 1, delay: pages.map(() => frameTime) })
    .toBuffer();
}

/** Returns the size of a film in even numbers, which video players need. */
export function filmSize(
  { frame, lines }: Film,
  pixels: number,
): { readonly width: number; readonly height: number } {
  const height = (lines * pixels) / 1024;
  // As many pixels as a square film.
  return { width: even(height * Math.sqrt(frame.aspect)), height: even(height / Math.sqrt(frame.aspect)) };
}

async function stillOf(frame: Frame, width: number, height: number, imageOf: ImageOf): Promise<Buffer> {
  const raster = await rasterOf({ size: 'whole', frames: [frame] }, width, height, imageOf);
  return raster.removeAlpha().raw().toBuffer();
}

/** Returns the place of the camera in each frame. Each clip begins where the one before has ended. */
function cameraPath({ frame, shots, loop }: Film): readonly Shown[] {
  const drawn = frame.plate === undefined;
  let from: Shown = { x: 0, y: 0, zoom: 1 };
  const path: Shown[] = [];
  for (const { motion, seed } of shots) {
    const random = new Random(`${seed}/camera`);
    const reach = motion === 'high' ? 1 : 0.4;
    const zoom = drawn
      ? 1 + reach * random.range(-0.22, 0.3)
      : 1 - reach * (1 - 1 / closest) * random.range(0.6, 1);
    const slack = Math.max(0, (drawn ? room : 1) - zoom) / 2;
    const angle = random.range(0, 2 * Math.PI);
    const to: Shown = { x: slack * reach * Math.cos(angle), y: slack * reach * 0.7 * Math.sin(angle), zoom };
    for (let index = 0; index < framesPerShot; index += 1) {
      const time = index / (loop ? framesPerShot : framesPerShot - 1);
      // A loop returns to its beginning.
      const share = loop ? (1 - Math.cos(time * 2 * Math.PI)) / 2 : smooth(time);
      path.push({
        x: from.x + (to.x - from.x) * share,
        y: from.y + (to.y - from.y) * share,
        zoom: from.zoom + (to.zoom - from.zoom) * share,
      });
    }
    from = path.at(-1) ?? from;
  }
  return path;
}

/** Draws specks of light that drift through the picture, faster with more motion. In a loop they return to their places. */
function motesAt(film: Film, index: number, width: number, height: number): Buffer {
  const shot = film.shots[Math.min(film.shots.length - 1, Math.floor(index / framesPerShot))];
  const first = film.shots[0];
  const random = new Random(`${first?.seed ?? ''}/motes`);
  const turns = shot?.motion === 'high' ? 1 : 0.5;
  const time = index / framesPerShot;
  let circles = '';
  for (let mote = 0; mote < 36; mote += 1) {
    const [x0, y0, size] = [random.range(0, 1), random.range(0, 1), random.range(0.0018, 0.006)];
    const [speed, sway, phase] = [random.int(1, 2), random.range(0.01, 0.04), random.range(0, 6)];
    const x = wrapped(x0 + time * turns * speed * (film.loop ? Math.ceil(turns) / turns : 0.5));
    const y = wrapped(y0 + sway * Math.sin(2 * Math.PI * time + phase));
    const glow = 0.35 + 0.3 * Math.sin(2 * Math.PI * time * 2 + phase);
    circles += `<circle cx="${at(x * width)}" cy="${at(y * height)}" r="${at(Math.max(0.6, size * height))}" fill-opacity="${at(glow)}"/>`;
  }
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><g fill="#fff6dc">${circles}</g></svg>`,
  );
}

function mixInto(page: Buffer, other: Buffer, share: number): void {
  if (share <= 0) return;
  for (let at = 0; at < page.length; at += 1) {
    const old = page[at] ?? 0;
    page[at] = Math.round(old + ((other[at] ?? 0) - old) * share);
  }
}

const even = (length: number): number => Math.max(16, Math.round(length / 2) * 2);
const at = (value: number): string => value.toFixed(2);
const wrapped = (share: number): number => ((share % 1) + 1) % 1;
const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));
const smooth = (share: number): number => {
  const within = clamp(share, 0, 1);
  return within * within * (3 - 2 * within);
};

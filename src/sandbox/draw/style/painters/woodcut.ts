import { type Colour, lightness, mix, rgbOf } from '../../canvas/colour.ts';
import { meanColour } from '../../canvas/shape.ts';
import { longerSide } from '../outline.ts';
import { layPaper } from '../paper.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, pathOf, SvgWriter } from '../svg.ts';

const paper = '#f1e6cf';
const ink = '#1b1719';

/** Lines from top to bottom. */
const lines = 104;

/** A hand-coloured woodcut: flat tints, and cut lines that are thick where the scene is dark. */
export const woodcutPainter: Painter = { toneRows: 128, paint };

function paint({ scene, box, name, random, tones, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  layPaper(writer, box, paper, random.fork('paper'));
  const tint = Math.min(0.85, 0.45 + frame.stylize / 1000);
  for (const shape of scene.shapes) {
    if (shape.kind === 'line' || shape.opacity < 0.5 || (shape.role !== 'subject' && longerSide(shape) < 60))
      continue;
    const share = shape.role === 'subject' ? tint : tint * 0.6;
    writer.fill(pathOf(shape.points, true), mix(paper, lifted(meanColour(shape.fill)), share));
  }
  const height = box.bottom - box.top;
  const step = height / lines;
  const [wave, phase] = [random.range(0.5, 1.4), random.range(0, 6)];
  const samples = Math.round(150 * ((box.right - box.left) / height));
  for (let line = -2; line < lines + 2; line += 1) {
    const yAt = (x: number): number =>
      box.top + (line + 0.5) * step + Math.sin(x / (height / 5.5) + phase + line * 0.09) * step * wave;
    writeLine(writer, box, step, samples, yAt, (x, y) => tones.dark(x, y));
  }
  for (const shape of scene.shapes) {
    if (shape.role !== 'subject' || shape.kind === 'line' || shape.opacity < 0.8) continue;
    const size = longerSide(shape);
    if (size < 24)
      writer.fill(pathOf(shape.points, true), lightness(rgbOf(meanColour(shape.fill))) > 0.5 ? paper : ink);
    else writer.stroke(pathOf(shape.points, true), Math.min(5.5, 1.6 + size / 90), ink);
  }
  return writer.toString();
}

/** Dark colours lie under the lines: printed lighter, both stay readable. */
function lifted(colour: Colour): Colour {
  const light = lightness(rgbOf(colour));
  return light < 0.5 ? mix(colour, paper, (0.5 - light) * 1.1) : colour;
}

function writeLine(
  writer: SvgWriter,
  box: Sitting['box'],
  step: number,
  samples: number,
  yAt: (x: number) => number,
  dark: (x: number, y: number) => number,
): void {
  let there = '';
  let back = '';
  let data = '';
  const close = (): void => {
    if (there !== '') data += `M${there.slice(1)}${back}Z`;
    there = '';
    back = '';
  };
  for (let index = 0; index <= samples; index += 1) {
    const x = box.left + ((box.right - box.left) * index) / samples;
    const y = yAt(x);
    const half = (Math.max(0, dark(x, y) - 0.16) ** 1.15 * step) / 1.75;
    if (half < step * 0.06) {
      close();
      continue;
    }
    there += `L${num(x)} ${num(y - half)}`;
    back = `L${num(x)} ${num(y + half)}${back}`;
  }
  close();
  if (data !== '') writer.fill(data, ink);
}

import { darker, lighter, mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import { boxPoints } from './box.ts';

/** A sailing boat; its water line is y 0. */
export function drawBoat(pen: Pen, palette: Palette, random: Random): void {
  const sail = mix('#fff6e6', palette.accent, random.chance(0.5) ? 0 : 0.8);
  pen.line('0,-30 0,-330', 6, '#4a3428');
  pen.area('8,-320! 120,-150 132,-62! 8,-58!', {
    colours: [lighter(sail, 0.2), darker(sail, 0.16)],
    start: [0, -320],
    end: [130, -60],
  });
  pen.area('-8,-280! -84,-140 -96,-66! -8,-62!', {
    colours: [sail, darker(sail, 0.26)],
    start: [0, -280],
    end: [-90, -66],
  });
  pen.area('-150,-44! 150,-50! 112,10 -100,12', {
    colours: [mix(palette.accent, '#5a2f26', palette.subject === undefined ? 0.5 : 0.12), '#2a1c1e'],
    start: [0, -50],
    end: [0, 12],
  });
  pen.area(boxPoints(-150, -50, 150, -40), '#f3e2c4');
  for (const [width, y] of [
    [150, 22],
    [110, 36],
    [70, 50],
  ] as const)
    pen.area(`${-width},${y}! 0,${y - 4} ${width},${y}! 0,${y + 5}`, lighter(palette.sky[2], 0.1), 0.5);
}

/** A lighthouse on its rock. */
export function drawLighthouse(pen: Pen, palette: Palette): void {
  pen.as('light').area('0,-420! 620,-560! 620,-330!', palette.light, 0.3);
  pen.as('light').area('0,-420! -620,-500! -620,-340!', palette.light, 0.2);
  pen.area('-170,30 -110,-22 -40,-34 60,-30 130,-6 190,40! -190,40!', {
    colours: ['#6d6470', '#2c2933'],
    start: [0, -34],
    end: [0, 40],
  });
  const stripes = 5;
  for (let stripe = 0; stripe < stripes; stripe += 1) {
    const [top, bottom] = [-380 + (stripe / stripes) * 360, -380 + ((stripe + 1) / stripes) * 360];
    const colour = stripe % 2 === 0 ? '#f7efe4' : palette.accent;
    pen.area(
      `${-halfAt(top)},${top}! ${halfAt(top)},${top}! ${halfAt(bottom)},${bottom}! ${-halfAt(bottom)},${bottom}!`,
      { colours: [lighter(colour, 0.1), darker(colour, 0.4)], start: [-50, 0], end: [60, 0] },
    );
  }
  pen.area(boxPoints(-46, -388, 46, -376), '#33303a');
  pen.area(boxPoints(-26, -446, 26, -388), lighter(palette.light, 0.3));
  pen.line('0,-446 0,-388', 4, '#33303a');
  pen.area('-36,-444! 0,-490! 36,-444!', darker(palette.accent, 0.3));
}

/** Half the tower's width at a height. */
const halfAt = (y: number): number => 34 + ((y + 380) / 360) * 26;

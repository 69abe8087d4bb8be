// What a picture's colours are: how much of the square it covers, its main hue, and the shares of black, white, grey and brown.
const BINS = 36;
const SPREAD = 2; // bins either side of a hue that count as that hue
const round = (value) => Math.round(value * 1000) / 1000;

/** pixels: RGBA bytes */
export function measureColours(pixels) {
  const histogram = new Float64Array(BINS);
  const count = { all: 0, coloured: 0, black: 0, white: 0, grey: 0, brown: 0, value: 0 };
  for (let i = 0; i < pixels.length; i += 4)
    if (pixels[i + 3] >= 128) countPixel(pixels[i] / 255, pixels[i + 1] / 255, pixels[i + 2] / 255, histogram, count);
  const at = (bin) => histogram[(bin + BINS) % BINS];
  const around = (bin) => Array.from({ length: 2 * SPREAD + 1 }, (_, k) => bin - SPREAD + k);
  const weight = (bin) => around(bin).reduce((sum, other) => sum + at(other), 0);
  const best = [...histogram.keys()].reduce((a, b) => (weight(b) > weight(a) ? b : a), 0);
  const total = histogram.reduce((a, b) => a + b, 0) || 1;
  const angle = (bin) => ((bin * 10 + 5) * Math.PI) / 180;
  const x = around(best).reduce((sum, bin) => sum + at(bin) * Math.cos(angle(bin)), 0);
  const y = around(best).reduce((sum, bin) => sum + at(bin) * Math.sin(angle(bin)), 0);
  const all = count.all || 1;
  return {
    cov: round(count.all / (pixels.length / 4)),
    hue: Math.round(((Math.atan2(y, x) * 180) / Math.PI + 360) % 360),
    hfrac: round(weight(best) / total),
    sat: round(count.coloured / all),
    blk: round(count.black / all),
    wht: round(count.white / all),
    gry: round(count.grey / all),
    brn: round(count.brown / all),
    val: round(count.coloured ? count.value / count.coloured : 0),
  };
}

function countPixel(r, g, b, histogram, count) {
  count.all++;
  const most = Math.max(r, g, b);
  const range = most - Math.min(r, g, b);
  const saturation = most ? range / most : 0;
  if (most < 0.22) count.black++;
  else if (saturation < 0.17) most > 0.86 ? count.white++ : count.grey++;
  else {
    const sixth = most === r ? ((g - b) / range + 6) % 6 : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
    const hue = sixth * 60;
    if (hue >= 12 && hue < 48 && most < 0.68 && saturation > 0.3) count.brown++;
    count.coloured++;
    count.value += most;
    histogram[Math.floor(hue / 10) % BINS] += saturation * most;
  }
}

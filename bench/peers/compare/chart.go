package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

var (
	ourColor   = color.RGBA{R: 0x0b, G: 0x6b, B: 0xcb, A: 0xff}
	peerColor  = color.RGBA{R: 0x55, G: 0x55, B: 0x55, A: 0xff}
	limitColor = color.RGBA{R: 0xc4, G: 0x3d, B: 0x2d, A: 0xff}
)

// chart is the chart of a table: a dot a side on a logarithmic axis, with a line
// from its least round to its greatest, and the limit drawn through all. It is nil
// where there is nothing to be compared.
func chart(t table) ([]byte, error) {
	var rows []row
	var bare *row
	for i, r := range t.rows {
		switch {
		case math.IsNaN(r.median) || r.median <= 0:
		case r.name == limit:
			bare = &t.rows[i]
		default:
			rows = append(rows, r)
		}
	}
	if len(rows) < 2 {
		return nil, nil
	}
	slices.SortStableFunc(rows, func(a, b row) int { // the best on top
		if t.less {
			a, b = b, a
		}
		return cmp.Compare(a.median, b.median)
	})

	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = t.title
	p.X.Label.Text = axis(t.workload)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(func(least, most float64) []plot.Tick { return ticks(least, most, t.unit) })
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	names := make([]plot.Tick, len(rows))
	least, most := math.Inf(1), 0.0
	for i, r := range rows {
		names[i] = plot.Tick{Value: float64(i), Label: t.label(r)}
		values := r.side.all(t.unit)
		least, most = min(least, slices.Min(values)), max(most, slices.Max(values))
		c := peerColor
		if r.name == ours {
			c = ourColor
		}
		span, err := plotter.NewLine(plotter.XYs{{X: slices.Min(values), Y: float64(i)}, {X: slices.Max(values), Y: float64(i)}})
		if err != nil {
			return nil, err
		}
		span.Color, span.Width = c, vg.Points(2)
		dot, err := plotter.NewScatter(plotter.XYs{{X: r.median, Y: float64(i)}})
		if err != nil {
			return nil, err
		}
		dot.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}
		p.Add(span, dot)
	}
	if bare != nil {
		least, most = min(least, bare.median), max(most, bare.median)
		line, err := plotter.NewLine(plotter.XYs{{X: bare.median, Y: -0.5}, {X: bare.median, Y: float64(len(rows)) - 0.5}})
		if err != nil {
			return nil, err
		}
		line.Color, line.Dashes = limitColor, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		p.Legend.Add("the hardware's limit", line)
		p.Legend.Top, p.Legend.Left = false, !t.less
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color = nil
	p.Add(grid)
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.X.Min, p.X.Max = least/1.3, most*1.3
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3

	c := vgsvg.New(vg.Points(560), vg.Points(float64(90+20*len(rows))))
	p.Draw(draw.Crop(draw.New(c), vg.Points(8), -vg.Points(8), vg.Points(4), -vg.Points(6)))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func axis(w workload) string {
	if w.less {
		return heading(w.unit) + ", less is better"
	}
	return heading(w.unit) + ", more is better"
}

// ticks are the powers of ten between two values, with names, and their multiples
// without.
func ticks(least, most float64, unit string) (all []plot.Tick) {
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for n := 1.0; n < 10; n++ {
			at := n * power
			if at < least || at > most {
				continue
			}
			tick := plot.Tick{Value: at}
			if n == 1 || most/least < 30 && (n == 2 || n == 5) {
				tick.Label = show(at, unit)
			}
			all = append(all, tick)
		}
	}
	if len(all) == 0 {
		all = append(all, plot.Tick{Value: least, Label: fmt.Sprint(least)})
	}
	return all
}

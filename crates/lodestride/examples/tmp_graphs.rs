use lodestride::array::NdArray;
use lodestride::array::s;
use lodestride::graph::{
    Function, Variable, compile, fmatrix, ftensor3, fvector, grad, lmatrix, lvector,
};
use std::time::Instant;
type R<T> = Result<T, Box<dyn std::error::Error>>;
fn fl(shape: &[usize], seed: u64, lo: f32, hi: f32) -> NdArray {
    let n: usize = shape.iter().product();
    let mut s = seed.wrapping_mul(0x9E3779B97F4A7C15) | 1;
    let v: Vec<f32> = (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            lo + (hi - lo) * ((s >> 40) as f32 / 16777216.0)
        })
        .collect();
    NdArray::from_vec(v, shape).unwrap()
}
fn ints(shape: &[usize], seed: u64, bound: u64) -> NdArray {
    let n: usize = shape.iter().product();
    let mut s = seed.wrapping_mul(0x9E3779B97F4A7C15) | 1;
    let v: Vec<i64> = (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            ((s >> 20) % bound) as i64
        })
        .collect();
    NdArray::from_vec(v, shape).unwrap()
}
fn check(name: &str, inputs: &[&Variable], outs: &[&Variable], args: &[NdArray]) {
    use lodestride::graph::{Function, Mode};
    let f = Function::builder(inputs, outs).compile().unwrap();
    let g = Function::builder(inputs, outs)
        .mode(Mode::unoptimised())
        .compile()
        .unwrap();
    let (a, b) = (f.call(args).unwrap(), g.call(args).unwrap());
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        let (a, b) = (
            a.array().to_vec::<f32>().unwrap(),
            b.array().to_vec::<f32>().unwrap(),
        );
        let scale = b.iter().fold(0f32, |m, x| m.max(x.abs()));
        let worst = a
            .iter()
            .zip(&b)
            .fold(0f32, |m, (x, y)| m.max((x - y).abs()));
        println!("   {name} output {i}: {} of {scale:e}", worst / scale);
    }
}
thread_local! { static INS: std::cell::RefCell<(Vec<Variable>, Vec<Variable>)> = const { std::cell::RefCell::new((Vec::new(), Vec::new())) }; }
fn grads(cost: &Variable, inputs: &[&Variable], of: &[&Variable]) -> R<Function> {
    let g = grad(cost, of)?;
    let outs: Vec<&Variable> = g.iter().chain([cost]).collect();
    INS.with(|c| {
        *c.borrow_mut() = (
            inputs.iter().map(|v| (*v).clone()).collect(),
            outs.iter().map(|v| (*v).clone()).collect(),
        )
    });
    Ok(compile(inputs, &outs)?)
}
fn time(name: &str, only: &str, build: impl FnOnce() -> R<(Function, Vec<NdArray>)>) {
    if !name.contains(only) {
        return;
    }
    let (f, args) = match build() {
        Ok(x) => x,
        Err(e) => {
            println!("{name}: ERROR {e}");
            return;
        }
    };
    f.call(&args).unwrap();
    INS.with(|c| {
        let c = c.borrow();
        let i: Vec<&Variable> = c.0.iter().collect();
        let o: Vec<&Variable> = c.1.iter().collect();
        if std::env::var("CHECK").is_ok() {
            check(name, &i, &o, &args);
        }
    });
    let mut best = f64::MAX;
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed().as_secs_f64() < std::env::var("SECS").map_or(0.7, |s| s.parse().unwrap())
        || n < 5
    {
        let t = Instant::now();
        let r = f.call(&args).unwrap();
        best = best.min(t.elapsed().as_secs_f64());
        drop(r);
        n += 1;
    }
    println!("{name} {:.1}", best * 1e6);
    if std::env::var("PROFILE").is_ok() {
        f.call_profiled(&args, |op, t| {
            println!("   {:9.1} {op}", t.as_secs_f64() * 1e6)
        })
        .unwrap();
    }
}
fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    let only = only.as_str();
    time("layernorm", only, || {
        let (x, gain, shift) = (fmatrix("x"), fvector("gain"), fvector("shift"));
        let apart = &x - x.mean(1)?.expand_dims(&[1])?;
        let variance = apart.square()?.mean(1)?.expand_dims(&[1])?;
        let normal = &apart / (variance + 1e-5).sqrt()? * &gain + &shift;
        let cost = normal.square()?.mean(..)? * 1e6;
        Ok((
            grads(&cost, &[&x, &gain, &shift], &[&gain, &x, &shift])?,
            vec![
                fl(&[4096, 1024], 1, -0.5, 0.5),
                fl(&[1024], 2, 0.5, 1.5),
                fl(&[1024], 3, -0.5, 0.5),
            ],
        ))
    });
    time("batchnorm", only, || {
        let (x, gain, shift, w) = (
            fmatrix("x"),
            fvector("gain"),
            fvector("shift"),
            fmatrix("w"),
        );
        let apart = &x - x.mean(0)?;
        let variance = apart.square()?.mean(0)?;
        let normal = &apart / (variance + 1e-5).sqrt()? * &gain + &shift;
        let cost = (normal * &w).sum(..)?;
        Ok((
            grads(&cost, &[&x, &gain, &shift, &w], &[&gain, &x, &shift])?,
            vec![
                fl(&[1024, 256], 1, -0.5, 0.5),
                fl(&[256], 2, 0.5, 1.5),
                fl(&[256], 3, -0.5, 0.5),
                fl(&[1024, 256], 4, -0.5, 0.5),
            ],
        ))
    });
    time("rmsnorm", only, || {
        let (x, gain, w) = (fmatrix("x"), fvector("gain"), fmatrix("w"));
        let ms = x.square()?.mean(1)?.expand_dims(&[1])?;
        let normal = &x / (ms + 1e-5).sqrt()? * &gain;
        let cost = (normal * &w).sum(..)?;
        Ok((
            grads(&cost, &[&x, &gain, &w], &[&gain, &x])?,
            vec![
                fl(&[512, 512], 1, -0.5, 0.5),
                fl(&[512], 2, 0.5, 1.5),
                fl(&[512, 512], 4, -0.5, 0.5),
            ],
        ))
    });
    time("attention", only, || {
        let (q, k, v) = (ftensor3("q"), ftensor3("k"), ftensor3("v"));
        let s = q.matmul(&k.permute(&[0, 2, 1])?)? * 0.125;
        let a = s.softmax(2)?;
        let o = a.matmul(&v)?;
        let cost = o.square()?.sum(..)?;
        let a = |s| fl(&[16, 128, 64], s, -0.5, 0.5);
        Ok((
            grads(&cost, &[&q, &k, &v], &[&q, &k, &v])?,
            vec![a(1), a(2), a(3)],
        ))
    });
    time("rnn10", only, || {
        let (x, h0, wx, wh, b) = (
            ftensor3("x"),
            fmatrix("h0"),
            fmatrix("wx"),
            fmatrix("wh"),
            fvector("b"),
        );
        let mut h = h0.clone();
        for t in 0..10 {
            let xt = x.get(&s![t])?;
            h = (xt.matmul(&wx)? + h.matmul(&wh)? + &b).tanh()?;
        }
        let cost = h.square()?.sum(..)?;
        Ok((
            grads(&cost, &[&x, &h0, &wx, &wh, &b], &[&wx, &wh, &b])?,
            vec![
                fl(&[10, 32, 64], 1, -0.5, 0.5),
                fl(&[32, 128], 2, -0.1, 0.1),
                fl(&[64, 128], 3, -0.1, 0.1),
                fl(&[128, 128], 4, -0.1, 0.1),
                fl(&[128], 5, -0.1, 0.1),
            ],
        ))
    });
    time("lstm1", only, || {
        let (x, h, c, wx, wh, b) = (
            fmatrix("x"),
            fmatrix("h"),
            fmatrix("c"),
            fmatrix("wx"),
            fmatrix("wh"),
            fvector("b"),
        );
        let z = x.matmul(&wx)? + h.matmul(&wh)? + &b;
        let i = z.get(&s![.., 0..128])?.sigmoid()?;
        let f = z.get(&s![.., 128..256])?.sigmoid()?;
        let g = z.get(&s![.., 256..384])?.tanh()?;
        let o = z.get(&s![.., 384..512])?.sigmoid()?;
        let c2 = &f * &c + &i * &g;
        let h2 = &o * c2.tanh()?;
        let cost = h2.square()?.sum(..)? + c2.sum(..)?;
        Ok((
            grads(&cost, &[&x, &h, &c, &wx, &wh, &b], &[&wx, &wh, &b, &x])?,
            vec![
                fl(&[32, 64], 1, -0.5, 0.5),
                fl(&[32, 128], 2, -0.1, 0.1),
                fl(&[32, 128], 6, -0.1, 0.1),
                fl(&[64, 512], 3, -0.1, 0.1),
                fl(&[128, 512], 4, -0.1, 0.1),
                fl(&[512], 5, -0.1, 0.1),
            ],
        ))
    });
    time("bce", only, || {
        let (z, y) = (fvector("z"), fvector("y"));
        let cost = (z.relu()? - &z * &y + (-z.abs()?).exp()?.log1p()?).mean(..)?;
        Ok((
            grads(&cost, &[&z, &y], &[&z])?,
            vec![fl(&[100_000], 1, -3.0, 3.0), fl(&[100_000], 2, 0.0, 1.0)],
        ))
    });
    time("huber", only, || {
        let (z, y) = (fvector("z"), fvector("y"));
        let d = &z - &y;
        let a = d.abs()?;
        let q = a.minimum(1.0)?;
        let cost = (q.square()? * 0.5 + (&a - &q)).mean(..)?;
        Ok((
            grads(&cost, &[&z, &y], &[&z])?,
            vec![fl(&[100_000], 1, -3.0, 3.0), fl(&[100_000], 2, 0.0, 1.0)],
        ))
    });
    time("gmm", only, || {
        let (x, m, ls) = (fmatrix("x"), fmatrix("m"), fvector("ls"));
        let d = x.expand_dims(&[1])? - m.expand_dims(&[0])?;
        let l = d.square()?.sum(2)? * (ls.exp()? * -0.5);
        let cost = -(l.exp()?.sum(1)?.log()?.mean(..)?);
        Ok((
            grads(&cost, &[&x, &m, &ls], &[&m, &ls])?,
            vec![
                fl(&[1000, 16], 1, -1.0, 1.0),
                fl(&[20, 16], 2, -1.0, 1.0),
                fl(&[20], 3, -1.0, 1.0),
            ],
        ))
    });
    time("cosine", only, || {
        let (a, b) = (fmatrix("a"), fmatrix("b"));
        let dot = (&a * &b).sum(1)?;
        let na = a.square()?.sum(1)?.sqrt()?;
        let nb = b.square()?.sum(1)?.sqrt()?;
        let cost = (1.0 - dot / (na * nb)).mean(..)?;
        Ok((
            grads(&cost, &[&a, &b], &[&a, &b])?,
            vec![
                fl(&[1024, 256], 1, -1.0, 1.0),
                fl(&[1024, 256], 2, -1.0, 1.0),
            ],
        ))
    });
    time("mf", only, || {
        let (u, v, iu, iv, r) = (
            fmatrix("u"),
            fmatrix("v"),
            lvector("iu"),
            lvector("iv"),
            fvector("r"),
        );
        let p = (u.take(&iu, 0)? * v.take(&iv, 0)?).sum(1)?;
        let cost = (p - &r).square()?.mean(..)? + u.square()?.sum(..)? * 1e-4;
        Ok((
            grads(&cost, &[&u, &v, &iu, &iv, &r], &[&u, &v])?,
            vec![
                fl(&[5000, 32], 1, -1.0, 1.0),
                fl(&[3000, 32], 2, -1.0, 1.0),
                ints(&[4096], 3, 5000),
                ints(&[4096], 4, 3000),
                fl(&[4096], 5, 0.0, 5.0),
            ],
        ))
    });
    time("bow", only, || {
        let (e, ids, w, labels) = (
            fmatrix("e"),
            lmatrix("ids"),
            fmatrix("w"),
            lvector("labels"),
        );
        let h = e.take(&ids, 0)?.mean(1)?;
        let cost = h.matmul(&w)?.softmax_cross_entropy(&labels)?.mean(..)?;
        Ok((
            grads(&cost, &[&e, &ids, &w, &labels], &[&e, &w])?,
            vec![
                fl(&[10_000, 64], 1, -1.0, 1.0),
                ints(&[128, 20], 2, 10_000),
                fl(&[64, 50], 3, -1.0, 1.0),
                ints(&[128], 4, 50),
            ],
        ))
    });
    time("softplusvar", only, || {
        // heteroscedastic regression
        let (x, y, w, v) = (fmatrix("x"), fvector("y"), fvector("w"), fvector("v"));
        let mu = x.matmul(&w)?;
        let s = x.matmul(&v)?.softplus()? + 1e-3;
        let cost = (((&y - &mu) / &s).square()? * 0.5 + s.log()?).mean(..)?;
        Ok((
            grads(&cost, &[&x, &y, &w, &v], &[&w, &v])?,
            vec![
                fl(&[1000, 100], 1, -1.0, 1.0),
                fl(&[1000], 2, -1.0, 1.0),
                fl(&[100], 3, -0.1, 0.1),
                fl(&[100], 4, -0.1, 0.1),
            ],
        ))
    });
    time("mlp3gelu", only, || {
        let x = fmatrix("x");
        let y = fmatrix("y");
        let ws: Vec<_> = (0..3).map(|_| (fmatrix("w"), fvector("b"))).collect();
        let mut h = x.clone();
        for (i, (w, b)) in ws.iter().enumerate() {
            h = h.matmul(w)? + b;
            if i < 2 {
                h = h.gelu()?;
            }
        }
        let cost = (h - &y).square()?.mean(..)?;
        let mut ins = vec![&x, &y];
        let mut of = vec![];
        for (w, b) in &ws {
            ins.push(w);
            ins.push(b);
            of.push(w);
            of.push(b);
        }
        Ok((
            grads(&cost, &ins, &of)?,
            vec![
                fl(&[64, 32], 1, -1.0, 1.0),
                fl(&[64, 1], 2, -1.0, 1.0),
                fl(&[32, 64], 3, -0.3, 0.3),
                fl(&[64], 4, -0.3, 0.3),
                fl(&[64, 64], 5, -0.3, 0.3),
                fl(&[64], 6, -0.3, 0.3),
                fl(&[64, 1], 7, -0.3, 0.3),
                fl(&[1], 8, -0.3, 0.3),
            ],
        ))
    });
}
